"""Small MLP-Mixer on colour-blob images, trained with Lion."""
import os
import random
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader, Dataset


@dataclass
class Args:
    lr: float = 1e-3
    weight_decay: float = 1e-2
    epochs: int = 3
    batch_size: int = 32
    seed: int = 1234


class Lion(Optimizer):
    """Evolved sign momentum (Chen et al., 2023)."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            lr, wd, (b1, b2) = group["lr"], group["weight_decay"], group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.empty_like(p, memory_format=torch.preserve_format)
                exp_avg = state["exp_avg"]
                p.mul_(1 - lr * wd)
                update = exp_avg.mul(b1).add(p.grad, alpha=1 - b1)
                p.add_(update.sign(), alpha=-lr)
                exp_avg.mul_(b2).add_(p.grad, alpha=1 - b2)
        return loss


class Blobs(Dataset):
    def __init__(self, n, size=16, seed=0):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 3, size=n)
        images = rng.normal(0, 0.3, size=(n, 3, size, size)).astype(np.float32)
        for img, y in zip(images, self.labels):
            r, c = rng.integers(0, size - 6, size=2)
            img[y, r:r + 6, c:c + 6] += 1.0
        self.images = images

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), int(self.labels[i])


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tok = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
        self.ch = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))

    def forward(self, x):
        x = x + self.tok(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.ch(self.n2(x))


class Mixer(nn.Module):
    def __init__(self, dim=32, depth=2):
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 4, stride=4)
        self.blocks = nn.Sequential(*[MixerBlock(16, dim) for _ in range(depth)])
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(1))


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True)


def main(args):
    seed_everything(args.seed)
    torch.set_num_threads(1)
    train = DataLoader(Blobs(384, seed=0), batch_size=args.batch_size, shuffle=True)
    xs, ys = zip(*[Blobs(96, seed=1)[i] for i in range(96)])
    xs, ys = torch.stack(xs), torch.tensor(ys)
    model = Mixer()
    opt = Lion(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    for epoch in range(args.epochs):
        total = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        with torch.no_grad():
            acc = (model(xs).argmax(1) == ys).float().mean().item()
        print(f"epoch {epoch + 1}: train loss {total / len(train):.4f}, val acc {acc:.3f}")
        torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, os.path.join(tempfile.gettempdir(), "mixer_last.pt"))


if __name__ == "__main__":
    main(Args())
