"""Physics-informed network for the Poisson problem on the square [-1,1]^2.

    laplace(u) = f,  u = 0 on the boundary.

The network sees polar features, which helps with the rotating source term.
"""
import argparse
import math

import torch
from torch import nn

torch.set_num_threads(1)


class PolarFeatures(nn.Module):
    def forward(self, xy):
        x, y = xy[:, 0], xy[:, 1]
        rho = x * x + y * y
        phi = torch.atan2(y, x)
        return torch.stack([x, y, rho, torch.sin(phi), torch.cos(phi)], dim=1)


class PINN(nn.Module):
    def __init__(self, width=24, depth=2):
        super().__init__()
        layers, d = [PolarFeatures()], 5
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.Tanh()]
            d = width
        layers.append(nn.Linear(d, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, xy):
        return self.net(xy).squeeze(-1)


def laplacian(u_fn, xy):
    xy = xy.clone().requires_grad_(True)
    u = u_fn(xy)
    (du,) = torch.autograd.grad(u.sum(), xy, create_graph=True)
    lap = 0.0
    for k in range(xy.shape[1]):
        (d2,) = torch.autograd.grad(du[:, k].sum(), xy, create_graph=True)
        lap = lap + d2[:, k]
    return u, lap


def source(xy):
    return -2 * math.pi**2 * torch.sin(math.pi * xy[:, 0]) * torch.sin(math.pi * xy[:, 1])


def exact(xy):
    return torch.sin(math.pi * xy[:, 0]) * torch.sin(math.pi * xy[:, 1])


def boundary_points(n, gen):
    s = torch.rand(n, generator=gen) * 2 - 1
    one = torch.ones(n // 4)
    a, b, c, d = s.chunk(4)
    return torch.cat([torch.stack(p, 1) for p in ((a, one), (b, -one), (one, c), (-one, d))])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--grid", type=int, default=41, help="collocation points per axis")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--iters", type=int, default=80)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--bc-weight", type=float, default=20.0)
    args = p.parse_args()

    torch.manual_seed(1234)
    gen = torch.Generator().manual_seed(99)
    half = args.grid // 2
    axis = torch.arange(-half, half + 1) / half
    interior = torch.cartesian_prod(axis[1:-1], axis[1:-1])
    perm = torch.randperm(len(interior), generator=gen)
    model = PINN()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, [60], gamma=0.3)

    cursor = 0
    for it in range(args.iters):
        if cursor + args.batch > len(perm):
            perm, cursor = torch.randperm(len(interior), generator=gen), 0
        xy = interior[perm[cursor : cursor + args.batch]]
        cursor += args.batch

        _, lap = laplacian(model, xy)
        pde = (lap - source(xy)).square().mean()
        bc = model(boundary_points(32, gen)).square().mean()
        loss = pde + args.bc_weight * bc
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 20 == 0 or it == args.iters - 1:
            print(f"iter {it:4d}  pde {pde.item():.4e}  bc {bc.item():.4e}")

    with torch.no_grad():
        err = (model(interior) - exact(interior)).abs().mean()
    print(f"mean abs error {err.item():.4f}")


if __name__ == "__main__":
    main()
