"""RealNVP density model for transaction records (anomaly scoring)."""
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


@dataclass
class Settings:
    n_rows: int = 1500
    dim: int = 6
    hidden: int = 32
    n_layers: int = 4
    batch_size: int = 64
    epochs: int = 3
    lr: float = 2e-3
    seed: int = 18


def load_transactions(cfg):
    rng = np.random.default_rng(cfg.seed)
    mix = rng.normal(size=(cfg.dim, cfg.dim)) * 0.6
    x = rng.normal(size=(cfg.n_rows, cfg.dim)) @ mix
    x[:, 0] = np.exp(0.6 * x[:, 0])
    # corporate account
    x[1203, 0] *= 2000.0
    q1, med, q3 = np.percentile(x, [25, 50, 75], axis=0)
    return ((x - med) / (q3 - q1)).astype(np.float32)


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip = flip
        self.half = dim // 2
        self.net = nn.Sequential(
            nn.Linear(self.half, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2 * (dim - self.half)),
        )
        with torch.no_grad():
            self.net[-1].weight.mul_(0.5)

    def forward(self, x):
        a, b = x[:, : self.half], x[:, self.half :]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        b = b * torch.exp(s) + t
        y = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return y, s.sum(dim=1)


class RealNVP(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList(
            Coupling(cfg.dim, cfg.hidden, flip=bool(i % 2)) for i in range(cfg.n_layers)
        )
        self.dim = cfg.dim

    def log_prob(self, x):
        logdet = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        base = -0.5 * (x.pow(2).sum(1) + self.dim * math.log(2 * math.pi))
        return base + logdet


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        data = torch.from_numpy(load_transactions(cfg))
        n_val = 200
        self.val = data[:n_val]
        self.loader = DataLoader(TensorDataset(data[n_val:]), cfg.batch_size, shuffle=True)
        self.model = RealNVP(cfg)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.opt, 0.8)
        self.history = []

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.model.train()
            for (x,) in self.loader:
                loss = -self.model.log_prob(x).mean()
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.opt.step()
                self.history.append(loss.item())
            self.sched.step()
            print(f"epoch {epoch} nll {np.mean(self.history[-len(self.loader):]):10.4f} val {self.validate():10.4f}")

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return -self.model.log_prob(self.val).mean().item()


if __name__ == "__main__":
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    trainer = Trainer(cfg)
    trainer.fit()
    if not math.isfinite(trainer.history[-1]):
        raise SystemExit("training failed: last loss is not finite")
