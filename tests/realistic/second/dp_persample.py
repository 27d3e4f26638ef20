"""Private training of a margin classifier: per-sample gradients with torch.func, normalised and noised."""
import argparse

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.set_num_threads(1)


class MarginNet(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.a = nn.Linear(d, h)
        self.b = nn.Linear(h, 1)
        nn.init.normal_(self.b.weight, std=0.02)
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))).squeeze(-1)


def hinge(score, y):
    return torch.relu(1.0 - y * score)


def make_blobs(n, d, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 2, (n,), generator=g) * 2.0 - 1.0
    x = torch.randn(n, d, generator=g) + 0.9 * y[:, None]
    return x, y


class DPTrainer:
    def __init__(self, model, clip, sigma, lr, momentum=0.9, seed=0):
        self.model = model
        self.clip, self.sigma, self.lr, self.momentum = clip, sigma, lr, momentum
        self.gen = torch.Generator().manual_seed(seed)
        self.params = {k: v.detach().clone() for k, v in model.named_parameters()}
        self.velocity = {k: torch.zeros_like(v) for k, v in self.params.items()}
        self.per_sample = vmap(grad(self._loss), in_dims=(None, 0, 0))

    def _loss(self, params, x, y):
        return hinge(functional_call(self.model, params, (x[None],)), y).sum()

    def step(self, x, y):
        grads = self.per_sample(self.params, x, y)
        sq = sum(g.flatten(1).square().sum(1) for g in grads.values())
        factor = self.clip / sq.sqrt()
        for name, g in grads.items():
            private = torch.einsum("n,n...->...", factor, g)
            private += self.sigma * self.clip * torch.randn(private.shape, generator=self.gen)
            self.velocity[name].mul_(self.momentum).add_(private / len(x))
            self.params[name].sub_(self.lr * self.velocity[name])
        return factor

    @torch.no_grad()
    def evaluate(self, x, y):
        s = functional_call(self.model, self.params, (x,))
        return hinge(s, y).mean().item(), ((s > 0) == (y > 0)).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=10)
    ap.add_argument("--hidden", type=int, default=16)
    ap.add_argument("--batch", type=int, default=50)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--clip", type=float, default=0.5)
    ap.add_argument("--sigma", type=float, default=0.3)
    ap.add_argument("--lr", type=float, default=0.05)
    args = ap.parse_args()

    torch.manual_seed(6)
    x, y = make_blobs(500, args.dim, seed=1)
    xt, yt = make_blobs(200, args.dim, seed=2)
    trainer = DPTrainer(MarginNet(args.dim, args.hidden), args.clip, args.sigma, args.lr)
    for epoch in range(args.epochs):
        for idx in torch.randperm(len(x)).split(args.batch):
            trainer.step(x[idx], y[idx])
        loss, acc = trainer.evaluate(xt, yt)
        print(f"epoch {epoch}: test hinge {loss:.4f} acc {acc:.3f}")
    torch.save(trainer.params, "dp_persample.pt")


if __name__ == "__main__":
    main()
