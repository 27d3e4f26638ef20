"""Half-precision training with fp32 master weights and a hand-written dynamic loss scaler."""
import argparse
import math

import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)


class DynamicScaler:
    def __init__(self, init=2.0**24, growth_interval=25):
        self.scale, self.interval = init, growth_interval
        self.good, self.skipped = 0, 0

    def update(self, overflow):
        if overflow:
            self.scale = max(self.scale / 2, 1.0)
            self.good = 0
            self.skipped += 1
        else:
            self.good += 1
            if self.good % self.interval == 0:
                self.scale *= 2


class Net(nn.Module):
    def __init__(self, d, h, k):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(d, h), nn.Linear(h, h), nn.Linear(h, k)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def blobs(n, d, k, seed):
    g = torch.Generator().manual_seed(seed)
    centers = torch.randn(k, d, generator=torch.Generator().manual_seed(0)) * 1.2
    y = torch.randint(k, (n,), generator=g)
    return centers[y] + torch.randn(n, d, generator=g), y


@torch.no_grad()
def copy_to_half(half_model, master):
    for h, m in zip(half_model.parameters(), master):
        h.copy_(m)


@torch.no_grad()
def unscale(half_model, master, scale):
    """Move fp16 grads to the fp32 master copies; returns True on overflow."""
    overflow = False
    for h, m in zip(half_model.parameters(), master):
        g = h.grad.float() / scale
        overflow |= not torch.isfinite(g).all().item()
        m.grad = g
    return overflow


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--lr", type=float, default=5e-3)
    args = p.parse_args()

    torch.manual_seed(1)
    x, y = blobs(1000, 10, 4, seed=1)
    xt, yt = blobs(300, 10, 4, seed=2)
    model = Net(10, 32, 4).half()
    master = [q.detach().clone().float().requires_grad_() for q in model.parameters()]
    opt = torch.optim.AdamW(master, lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    scaler = DynamicScaler()
    for epoch in range(args.epochs):
        tot, n = 0.0, 0
        for idx in torch.randperm(len(x)).split(args.batch):
            logits = model(x[idx].half()).float()
            loss = F.cross_entropy(logits, y[idx])
            model.zero_grad()
            (loss * scaler.scale).backward()
            overflow = unscale(model, master, scaler.scale)
            scaler.update(overflow)
            if overflow:
                continue
            nn.utils.clip_grad_norm_(master, 1.0)
            opt.step()
            copy_to_half(model, master)
            tot, n = tot + loss.item(), n + 1
        sched.step()
        with torch.no_grad():
            acc = (model(xt.half()).argmax(1) == yt).float().mean().item()
        mean = tot / n if n else math.nan
        print(f"epoch {epoch} loss {mean:.4f} acc {acc:.3f} scale 2^{int(math.log2(scaler.scale))} skipped {scaler.skipped}")
    assert all(torch.isfinite(m).all() for m in master)


if __name__ == "__main__":
    main()
