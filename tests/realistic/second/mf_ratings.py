"""Matrix factorisation on an explicit rating matrix stored densely, NaN = not rated."""
import argparse
import math

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)


def rating_matrix(n_users, n_items, density, seed):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(n_users, 3)), rng.normal(size=(n_items, 3))
    r = 3.0 + 0.7 * (u @ v.T) + 0.3 * rng.normal(size=(n_users, n_items))
    r = np.clip(np.round(r * 2) / 2, 0.5, 5.0)
    r[rng.random(r.shape) > density] = np.nan
    r[5, :] = np.nan      # registered, never rated
    r[:, 17] = np.nan     # new item
    return r.astype(np.float32)


def split(r, frac, seed):
    rng = np.random.default_rng(seed)
    hold = rng.random(r.shape) < frac
    return np.where(hold, np.nan, r), np.where(hold, r, np.nan)


class MF(nn.Module):
    def __init__(self, ratings, rank):
        super().__init__()
        n, m = ratings.shape
        mu = ratings.nanmean()
        user_mean = ratings.nanmean(dim=1)
        item_mean = ratings.nanmean(dim=0)
        self.mu = nn.Parameter(mu.clone())
        self.bu = nn.Parameter(torch.nan_to_num(user_mean - mu, nan=0.0))
        self.bi = nn.Parameter(torch.nan_to_num(item_mean - mu, nan=0.0))
        self.p = nn.Parameter(0.1 * torch.randn(n, rank))
        self.q = nn.Parameter(0.1 * torch.randn(m, rank))

    def forward(self):
        return self.mu + self.bu[:, None] + self.bi[None, :] + self.p @ self.q.T


def masked_mse(pred, target):
    seen = ~torch.isnan(target)
    filled = torch.where(seen, target, pred.detach())
    return (pred - filled).square().sum() / seen.sum()


@torch.no_grad()
def report(pred, target):
    err = (pred - target).abs()
    per_item = err.nanmean(dim=0)
    cold = int(per_item.isnan().sum())
    worst = np.nanmax(per_item.numpy())
    rmse = math.sqrt((pred - target).square().nanmean().item())
    return rmse, cold, worst


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--users", type=int, default=80)
    ap.add_argument("--items", type=int, default=60)
    ap.add_argument("--density", type=float, default=0.15)
    ap.add_argument("--rank", type=int, default=6)
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--lr", type=float, default=2e-2)
    ap.add_argument("--l2", type=float, default=2e-3)
    ap.add_argument("--patience", type=int, default=3)
    args = ap.parse_args()

    torch.manual_seed(3)
    tr, va = split(rating_matrix(args.users, args.items, args.density, 1), 0.15, 2)
    tr, va = torch.from_numpy(tr), torch.from_numpy(va)
    print(f"ratings: {int((~tr.isnan()).sum())} train, {int((~va.isnan()).sum())} valid")
    model = MF(tr, args.rank)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    best, bad, best_state = np.inf, 0, None
    for step in range(args.steps):
        loss = masked_mse(model(), tr)
        reg = sum(p.square().sum() for p in (model.p, model.q, model.bu, model.bi))
        opt.zero_grad()
        (loss + args.l2 * reg).backward()
        opt.step()
        if step % 10 == 9:
            rmse, cold, worst = report(model(), va)
            print(f"step {step + 1} train mse {loss.item():.4f} valid rmse {rmse:.4f} cold items {cold} worst MAE {worst:.3f}")
            if rmse < best:
                best, bad = rmse, 0
                best_state = {k: v.clone() for k, v in model.state_dict().items()}
            else:
                bad += 1
                if bad >= args.patience:
                    print("early stop")
                    break
    model.load_state_dict(best_state)
    print(f"user without ratings: mean prediction {model()[5].mean().item():.3f}")


if __name__ == "__main__":
    main()
