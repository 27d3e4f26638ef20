# gpytorch: an exact GP with priors and observations that are NaN (missing), then a variational classifier
# expect: silence
import gpytorch
import torch
from gpytorch.kernels import MaternKernel, PeriodicKernel, RBFKernel, ScaleKernel
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy


class Regression(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.LinearMean(1)
        matern = MaternKernel(
            nu=2.5,
            lengthscale_prior=gpytorch.priors.GammaPrior(3.0, 6.0),
            lengthscale_constraint=gpytorch.constraints.Interval(1e-3, 10.0),
        )
        self.kernel = ScaleKernel(matern) + ScaleKernel(PeriodicKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


class Classification(gpytorch.models.ApproximateGP):
    def __init__(self, inducing):
        posterior = CholeskyVariationalDistribution(inducing.size(0))
        super().__init__(VariationalStrategy(self, inducing, posterior))
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = ScaleKernel(RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


def regression():
    x = torch.linspace(0, 1, 40)
    y = torch.sin(x * 12) + 0.1 * torch.randn(40)
    x = torch.cat([x, x[:3]])  # inputs given twice: distance 0, a kernel matrix close to singular
    y = torch.cat([y, y[:3]])
    y[10:14] = float("nan")  # not measured
    likelihood = gpytorch.likelihoods.GaussianLikelihood(
        noise_prior=gpytorch.priors.SmoothedBoxPrior(1e-3, 1.0)
    )
    model = Regression(x, y, likelihood)
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for step in range(25):
        optimizer.zero_grad()
        loss = -marginal(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"regression {loss.item():.4f}")
    model.eval(), likelihood.eval()
    with torch.no_grad():
        found = likelihood(model(torch.linspace(-0.2, 1.2, 15)))
        low, high = found.confidence_region()
    print(f"width {(high - low).mean():.3f}")


def classification():
    x = torch.randn(80, 2)
    y = (x.norm(dim=1) < 1.1).float()
    model, likelihood = Classification(x[:12].clone()), gpytorch.likelihoods.BernoulliLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=80)
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.05)
    for step in range(25):
        optimizer.zero_grad()
        loss = -bound(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"classification {loss.item():.4f}")


def main():
    torch.manual_seed(0)
    with gpytorch.settings.observation_nan_policy("mask"):
        regression()
    classification()


if __name__ == "__main__":
    main()
