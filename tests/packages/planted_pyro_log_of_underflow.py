# pyro: a zero-inflated Poisson written by hand; exp of the log probability underflows to 0 for one large count
# expect: error
# phase: forward
# op: aten::log
# line: 19
# cause: log_of_zero
import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal


def model(counts):
    gate = pyro.sample("gate", dist.Beta(1.0, 1.0))
    rate = pyro.sample("rate", dist.Gamma(2.0, 0.5))
    poisson = dist.Poisson(rate).log_prob(counts).exp()
    likelihood = gate * (counts == 0) + (1 - gate) * poisson
    pyro.factor("counts", torch.log(likelihood).sum())


def main():
    pyro.set_rng_seed(0)
    clean = torch.poisson(torch.full((30,), 3.0)) * (torch.rand(30) > 0.3)
    outlier = clean.clone()
    outlier[17] = 400.0
    guide = AutoNormal(model)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.02}), Trace_ELBO())
    for step in range(12):
        loss = svi.step(clean if step < 8 else outlier)
        print(step, f"{loss:.3f}")


if __name__ == "__main__":
    main()
