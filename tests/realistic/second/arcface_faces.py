"""ArcFace fine-tuning of a small embedding net; new identities get a proxy from one enrolment photo."""
import math
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


@dataclass
class Cfg:
    identities: int = 20
    per_id: int = 16
    dim_in: int = 48
    dim_emb: int = 16
    scale: float = 16.0
    margin: float = 0.3
    epochs: int = 4
    batch: int = 32
    lr: float = 1e-2
    milestones: list = field(default_factory=lambda: [2, 3])


class Faces(Dataset):
    def __init__(self, cfg, noise=0.7, seed=0):
        g = torch.Generator().manual_seed(seed)
        centers = torch.randn(cfg.identities, cfg.dim_in, generator=g)
        self.y = torch.arange(cfg.identities).repeat_interleave(cfg.per_id)
        self.x = centers[self.y] + noise * torch.randn(len(self.y), cfg.dim_in, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Embedder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg.dim_in, 64), nn.PReLU(), nn.Linear(64, cfg.dim_emb))

    def forward(self, x):
        return F.normalize(self.trunk(x), dim=-1)


class ArcFace(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(cfg.identities, cfg.dim_emb))
        nn.init.xavier_uniform_(self.weight)
        self.s, self.m = cfg.scale, cfg.margin

    @torch.no_grad()
    def enroll(self, embeddings):
        self.weight.copy_(embeddings)

    def forward(self, emb, labels):
        cosine = F.linear(emb, F.normalize(self.weight, dim=-1))
        theta = torch.acos(cosine)
        one_hot = F.one_hot(labels, self.weight.shape[0]).bool()
        logits = torch.where(one_hot, torch.cos((theta + self.m).clamp(max=math.pi)), cosine)
        return self.s * logits


@torch.no_grad()
def recall_at_1(model, ds):
    model.eval()
    e = model(ds.x)
    sim = e @ e.T
    sim.fill_diagonal_(-2.0)
    model.train()
    return (ds.y[sim.argmax(1)] == ds.y).float().mean().item()


def main():
    cfg = Cfg()
    torch.manual_seed(5)
    ds = Faces(cfg)
    loader = DataLoader(ds, cfg.batch, shuffle=True, generator=torch.Generator().manual_seed(1))
    model, head = Embedder(cfg), ArcFace(cfg)
    head.enroll(model(ds.x[:: cfg.per_id]))
    opt = torch.optim.SGD(
        [{"params": model.parameters()}, {"params": head.parameters(), "lr": cfg.lr * 2}], lr=cfg.lr, momentum=0.9
    )
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, cfg.milestones, gamma=0.3)
    print(f"initial R@1 {recall_at_1(model, ds):.3f}")
    for epoch in range(cfg.epochs):
        seen, loss_sum, hits = 0, 0.0, 0
        for x, y in loader:
            logits = head(model(x), y)
            loss = F.cross_entropy(logits, y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(list(model.parameters()) + list(head.parameters()), 5.0)
            opt.step()
            seen += len(y)
            loss_sum += loss.item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
        sched.step()
        print(f"epoch {epoch} loss {loss_sum / seen:.4f} acc {hits / seen:.3f} R@1 {recall_at_1(model, ds):.3f}")
    torch.save({"model": model.state_dict(), "head": head.state_dict()}, "arcface_faces.pt")


if __name__ == "__main__":
    main()
