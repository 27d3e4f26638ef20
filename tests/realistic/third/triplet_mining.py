"""Batch-hard triplet loss on synthetic identities."""
import torch
import torch.nn as nn

CONFIG = {
    "identities": 12,
    "views": 6,
    "dim": 40,
    "embedding": 16,
    "margin": 0.5,
    "steps": 120,
    "lr": 1e-3,
}


def make_people(cfg):
    g = torch.Generator().manual_seed(21)
    centre = torch.randn(cfg["identities"], cfg["dim"], generator=g) * 2
    noise = torch.randn(cfg["identities"], cfg["views"], cfg["dim"], generator=g) * 0.7
    return centre[:, None] + noise


class PairSampler:
    """P identities times K views, with replacement when there are too few views."""

    def __init__(self, photos, p=6, k=4, seed=5):
        self.photos, self.p, self.k = photos, p, k
        self.g = torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            who = torch.randperm(len(self.photos), generator=self.g)[:self.p]
            picks = torch.randint(0, self.photos.shape[1], (self.p, self.k), generator=self.g)
            x = self.photos[who[:, None], picks]
            yield x.flatten(0, 1), who.repeat_interleave(self.k)


class Embedder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(cfg["dim"], 64),
            nn.ReLU(),
            nn.Linear(64, cfg["embedding"]),
        )

    def forward(self, x):
        return self.layers(x)


def pairwise(a):
    """All distances at once: |a|^2 + |b|^2 - 2ab needs no loop."""
    square = (a * a).sum(1)
    gap = square[:, None] + square[None, :] - 2 * a @ a.T
    return torch.sqrt(gap)


def batch_hard(z, who, margin):
    dist = pairwise(z)
    same = who[:, None] == who[None, :]
    eye = torch.eye(len(z), dtype=torch.bool)
    hardest_positive = dist.masked_fill(~same | eye, -float("inf")).amax(1)
    hardest_negative = dist.masked_fill(same, float("inf")).amin(1)
    return (hardest_positive - hardest_negative + margin).clamp(min=0).mean()


def main(cfg):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    photos = make_people(cfg)
    model = Embedder(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=1e-4)
    for step, (x, who) in enumerate(PairSampler(photos)):
        if step == cfg["steps"]:
            break
        loss = batch_hard(model(x), who, cfg["margin"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step:4d} triplet {loss.item():.4f}")


if __name__ == "__main__":
    main(CONFIG)
