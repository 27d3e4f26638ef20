"""Recover absolute camera rotations from pairwise ones (6-D representation, Adam)."""
import argparse

import torch
import torch.nn.functional as F


def rotation_from_6d(d6):
    """Gram-Schmidt (Zhou et al., 2019)."""
    a, b = d6[..., :3], d6[..., 3:]
    e1 = F.normalize(a, dim=-1)
    e2 = F.normalize(b - (e1 * b).sum(-1, keepdim=True) * e1, dim=-1)
    e3 = torch.cross(e1, e2, dim=-1)
    return torch.stack([e1, e2, e3], dim=-2)


def random_rotations(n, gen):
    return rotation_from_6d(torch.randn(n, 6, generator=gen))


def geodesic(r1, r2):
    """Angle of r1^T r2 in radians."""
    trace = (r1 * r2).sum(dim=(-2, -1))
    cos = ((trace - 1.0) / 2.0).clamp(-1.0, 1.0)
    return torch.acos(cos)


def make_problem(n_cams, n_edges, noise_deg, gen):
    truth = random_rotations(n_cams, gen)
    i = torch.randint(0, n_cams, (n_edges,), generator=gen)
    j = (i + torch.randint(1, n_cams, (n_edges,), generator=gen)) % n_cams
    rel = truth[j] @ truth[i].transpose(-1, -2)
    if noise_deg > 0:
        jitter = torch.randn(n_edges, 6, generator=gen) * noise_deg * torch.pi / 180
        eye6 = torch.tensor([1.0, 0, 0, 0, 1.0, 0])
        rel = rotation_from_6d(eye6 + jitter) @ rel
    return truth, i, j, rel


def align(est, truth):
    """Remove the global gauge with the first camera."""
    return est @ (est[0].transpose(-1, -2) @ truth[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cams", type=int, default=16)
    p.add_argument("--edges", type=int, default=60)
    p.add_argument("--noise-deg", type=float, default=0.0)
    p.add_argument("--iters", type=int, default=2500)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=2)
    args = p.parse_args()

    gen = torch.Generator().manual_seed(args.seed)
    truth, i, j, rel = make_problem(args.cams, args.edges, args.noise_deg, gen)
    # a rough start, as a spanning tree would give
    start = truth[:, :2].flatten(1) + 0.2 * torch.randn(args.cams, 6, generator=gen)
    params = start.clone().requires_grad_()
    opt = torch.optim.Adam([params], lr=args.lr)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.998)

    for it in range(args.iters):
        rot = rotation_from_6d(params)
        angle = geodesic(rot[j], rel @ rot[i])
        loss = angle.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if it % 250 == 0:
            with torch.no_grad():
                deg = torch.rad2deg(angle.max()).item()
            print(f"iter {it:4d} loss {loss.item():.3e} worst edge {deg:.4f} deg")

    with torch.no_grad():
        est = align(rotation_from_6d(params), truth)
        cos = ((est * truth).sum((-2, -1)) - 1) / 2
        err = torch.rad2deg(torch.acos(cos.clamp(-1, 1)))
    print(f"mean camera error {err.mean().item():.4f} deg")


if __name__ == "__main__":
    main()
