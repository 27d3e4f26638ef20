# botorch: a GP fitted with L-BFGS-B (scipy reads the gradients), then log expected improvement, in float64
# expect: silence
import warnings

import torch
from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.filterwarnings("ignore")


def target(x):
    return -(x - 0.3).square().sum(-1, keepdim=True) + 0.1 * torch.sin(9 * x).sum(-1, keepdim=True)


def main():
    torch.manual_seed(0)
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
    x = torch.rand(8, 2, dtype=torch.double)
    y = target(x)
    for round_ in range(2):
        model = SingleTaskGP(
            x, y, input_transform=Normalize(2), outcome_transform=Standardize(1)
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        if round_ == 0:
            acquisition = LogExpectedImprovement(model, best_f=y.max())
        else:
            acquisition = qLogNoisyExpectedImprovement(model, x)
        candidate, value = optimize_acqf(
            acquisition, bounds, q=1, num_restarts=2, raw_samples=16, options={"maxiter": 20}
        )
        x, y = torch.cat([x, candidate]), torch.cat([y, target(candidate)])
        print(round_, f"best {y.max().item():.4f} acquisition {value.item():.3f}")


if __name__ == "__main__":
    main()
