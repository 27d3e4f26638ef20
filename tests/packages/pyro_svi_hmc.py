# pyro: SVI with masks and enumeration, then NUTS, whose search for a step size tries points of log prob -inf
# expect: silence
import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDelta, AutoNormal
from pyro.optim import ClippedAdam


def regression(x, y, keep):
    weight = pyro.sample("weight", dist.Normal(0.0, 1.0))
    scale = pyro.sample("scale", dist.HalfCauchy(1.0))
    with pyro.plate("data", len(x)), pyro.poutine.mask(mask=keep):
        pyro.sample("y", dist.StudentT(4.0, weight * x, scale), obs=y)


def zero_inflated(counts):
    gate = pyro.sample("gate", dist.Beta(1.0, 1.0))
    rate = pyro.sample("rate", dist.Gamma(2.0, 0.5))
    with pyro.plate("data", len(counts)):
        pyro.sample("counts", dist.ZeroInflatedPoisson(rate, gate=gate), obs=counts)


@config_enumerate
def mixture(data):
    weights = pyro.sample("weights", dist.Dirichlet(torch.ones(3)))
    with pyro.plate("parts", 3):
        centre = pyro.sample("centre", dist.Normal(0.0, 5.0))
    with pyro.plate("data", len(data)):
        part = pyro.sample("part", dist.Categorical(weights))
        pyro.sample("x", dist.Normal(centre[part], 1.0), obs=data)


def bounded(total, hits):
    chance = pyro.sample("chance", dist.Uniform(0.0, 1.0))
    width = pyro.sample("width", dist.LogNormal(0.0, 0.5))
    pyro.sample("hits", dist.Binomial(total, chance), obs=hits)
    pyro.sample("near", dist.Normal(0.0, width), obs=torch.tensor(0.3))


def learn(name, model, guide, elbo, *data, steps=20):
    pyro.clear_param_store()
    svi = SVI(model, guide, ClippedAdam({"lr": 0.03, "clip_norm": 5.0}), elbo)
    losses = [svi.step(*data) for _ in range(steps)]
    print(name, f"{losses[0]:.3f} {losses[-1]:.3f}")


def main():
    pyro.set_rng_seed(0)
    x = torch.randn(40)
    y = (2 * x + 0.1 * torch.randn(40)).where(torch.rand(40) > 0.2, torch.tensor(0.0))
    learn("regression", regression, AutoNormal(regression), Trace_ELBO(4), x, y, y != 0)
    counts = torch.poisson(torch.full((40,), 3.0)) * (torch.rand(40) > 0.4)
    learn("counts", zero_inflated, AutoNormal(zero_inflated), Trace_ELBO(), counts)
    data = torch.cat([torch.randn(15) - 6, torch.randn(15), torch.randn(15) + 6])
    guide = AutoDelta(pyro.poutine.block(mixture, hide=["part"]))
    learn("mixture", mixture, guide, TraceEnum_ELBO(max_plate_nesting=1), data)
    mcmc = MCMC(NUTS(bounded), num_samples=12, warmup_steps=12, disable_progbar=True)
    mcmc.run(torch.tensor(20.0), torch.tensor(20.0))  # every trial a hit: the chance runs to its bound
    print(f"chance {mcmc.get_samples()['chance'].mean():.3f}")


if __name__ == "__main__":
    main()
