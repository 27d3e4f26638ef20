"""PINN for the Poisson equation on the unit disc, u'' + u'/r = -4, u(1) = 0 (u = 1 - r^2)."""
import argparse

import numpy as np
import torch
import torch.nn as nn


class RadialNet(nn.Module):
    def __init__(self, width=32, depth=3):
        super().__init__()
        layers, d = [], 1
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.Tanh()]
            d = width
        self.net = nn.Sequential(*layers, nn.Linear(d, 1))

    def forward(self, r):
        # the factor fulfils the boundary condition exactly
        return (1.0 - r * r) * self.net(r * r)


def derivatives(u, r):
    u_r = torch.autograd.grad(u.sum(), r, create_graph=True)[0]
    u_rr = torch.autograd.grad(u_r.sum(), r, create_graph=True)[0]
    return u_r, u_rr


def residual(model, r, source=4.0):
    r = r.clone().requires_grad_()
    u_r, u_rr = derivatives(model(r), r)
    inner = r > 1e-6
    # at the axis u'/r tends to u''
    safe_r = torch.where(inner, r, torch.ones_like(r))
    radial = torch.where(inner, u_r / safe_r, u_rr)
    return u_rr + radial + source


def symmetry(model):
    """u'(0) = 0."""
    r = torch.zeros(1, 1, requires_grad=True)
    u_r = torch.autograd.grad(model(r).sum(), r, create_graph=True)[0]
    return u_r.pow(2).mean()


def error_profile(model, n=41):
    """log10 of the absolute error along the radius, for the plot (floor at -9)."""
    r = np.linspace(0.0, 1.0, n)
    with torch.no_grad():
        u = model(torch.tensor(r, dtype=torch.float32).unsqueeze(1)).squeeze(1).numpy()
    with np.errstate(divide="ignore"):
        logs = np.log10(np.abs(u - (1.0 - r ** 2)).astype(np.float64))
    return np.maximum(logs, -9.0), np.abs(u - (1.0 - r ** 2)).max()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=600)
    p.add_argument("--points", type=int, default=48)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--patience", type=int, default=200)
    args = p.parse_args()

    torch.manual_seed(18)
    model = RadialNet()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.996)
    fixed = torch.linspace(0.0, 1.0, args.points // 2).unsqueeze(1)
    best, best_state, since = float("inf"), None, 0
    lowest = torch.full((3,), float("inf"))

    for step in range(args.steps):
        r = torch.cat([fixed, torch.rand(args.points // 2, 1)])
        pde = residual(model, r).pow(2).mean()
        sym = symmetry(model)
        loss = pde + 0.1 * sym
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        lowest = torch.minimum(lowest, torch.stack([loss, pde, sym]).detach())
        if loss.item() < best:
            best, since = loss.item(), 0
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            since += 1
            if since > args.patience:
                break
        if step % 100 == 0:
            prof, worst = error_profile(model)
            print(f"step {step} loss {loss.item():.3e} max error {worst:.3e} "
                  f"median log error {np.median(prof):.2f}")

    model.load_state_dict(best_state)
    prof, worst = error_profile(model)
    print(f"best loss {best:.3e}, lowest terms {lowest.tolist()}, max error {worst:.3e}, "
          f"profile ends at {prof[-1]:.1f}")


if __name__ == "__main__":
    main()
