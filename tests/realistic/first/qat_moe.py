"""Mixture-of-experts regressor with top-k routing, quantisation-aware via min/max observers."""
import io
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    experts: int = 4
    top_k: int = 2
    dim: int = 16
    steps: int = 120
    batch: int = 32
    lr: float = 1e-2
    observe_until: int = 40
    patience: int = 5
    seed: int = 0


class MinMaxObserver(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("min_val", torch.tensor(float("inf")))
        self.register_buffer("max_val", torch.tensor(float("-inf")))

    @torch.no_grad()
    def observe(self, x):
        if x.numel():
            self.min_val.copy_(torch.minimum(self.min_val, x.amin()))
            self.max_val.copy_(torch.maximum(self.max_val, x.amax()))

    @property
    def ready(self):
        return bool(self.min_val <= self.max_val)

    def fake_quant(self, x, levels=255):
        if not self.ready:
            return x
        scale = (self.max_val - self.min_val).clamp(min=1e-6) / levels
        q = ((x - self.min_val) / scale).round().clamp(0, levels) * scale + self.min_val
        return x + (q - x).detach()


class Expert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.obs = MinMaxObserver()
        self.observing = True

    def forward(self, x):
        h = F.relu(self.up(x))
        if self.observing:
            self.obs.observe(h)
        else:
            h = self.obs.fake_quant(h)
        return self.down(h)


class MoE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.k = cfg.top_k
        self.inp = nn.Linear(4, cfg.dim)
        self.gate = nn.Linear(cfg.dim, cfg.experts, bias=False)
        self.experts = nn.ModuleList(Expert(cfg.dim) for _ in range(cfg.experts))
        self.spare = Expert(cfg.dim)  # reserved for later domains, gets no tokens yet
        self.out = nn.Linear(cfg.dim, 1)

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        logits = self.gate(h)
        kept, idx = logits.topk(self.k, dim=-1)
        sparse = torch.full_like(logits, float("-inf")).scatter(-1, idx, kept)
        weights = sparse.softmax(dim=-1)
        y = torch.zeros_like(h)
        for e, expert in enumerate(self.experts):
            rows = (weights[:, e] > 0).nonzero().squeeze(1)
            y = y.index_add(0, rows, weights[rows, e, None] * expert(h[rows]))
        logp = logits.log_softmax(dim=-1)
        entropy = -(logp.exp() * logp).sum(-1).mean()
        return self.out(h + y).squeeze(-1), entropy


def target_fn(x):
    return torch.where(x[:, 0] > 0, torch.sin(2 * x[:, 1]), x[:, 2] * x[:, 3])


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    model = MoE(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
    x_val = torch.randn(128, 4)
    best, bad, snapshot = float("inf"), 0, io.BytesIO()
    for step in range(cfg.steps):
        if step == cfg.observe_until:
            for m in model.modules():
                if isinstance(m, Expert):
                    m.observing = False
        x = torch.randn(cfg.batch, 4)
        pred, entropy = model(x)
        loss = F.mse_loss(pred, target_fn(x)) - 1e-3 * entropy
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            with torch.no_grad():
                val = F.mse_loss(model(x_val)[0], target_fn(x_val)).item()
            plateau.step(val)
            print(f"step {step + 1} loss {loss.item():.4f} val {val:.4f} entropy {entropy.item():.3f}")
            bad = 0 if val < best else bad + 1
            if val < best:
                best = val
                snapshot.seek(0)
                torch.save(model.state_dict(), snapshot)
            if bad >= cfg.patience:
                break
    snapshot.seek(0)
    model.load_state_dict(torch.load(snapshot))
    for i, e in enumerate([*model.experts, model.spare]):
        rng = f"[{e.obs.min_val:.2f}, {e.obs.max_val:.2f}]" if e.obs.ready else "unused"
        print(f"expert {i}: range {rng}")
    print(f"best val {best:.4f}")


if __name__ == "__main__":
    main()
