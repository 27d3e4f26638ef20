"""Two-tower retrieval with in-batch softmax; similarities are kept in half to save memory."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_ITEMS, HIST, DIM = 500, 12, 32
PAD = 0


def load_interactions(n_users, rng):
    """Users have a taste cluster; a history of item ids, padded with 0, and a next item."""
    cluster = rng.integers(0, 10, size=n_users)
    hist = np.zeros((n_users, HIST), dtype=np.int64)
    target = np.zeros(n_users, dtype=np.int64)
    for u in range(n_users):
        lo = 1 + cluster[u] * 49
        n = min(HIST, rng.poisson(7))
        hist[u, :n] = rng.integers(lo, lo + 49, size=n)
        target[u] = rng.integers(lo, lo + 49)
    return torch.from_numpy(hist), torch.from_numpy(target)


def unit(v):
    return v / (v.norm(dim=-1, keepdim=True) + 1e-8)


class UserTower(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table
        self.mix = nn.Sequential(
            nn.Linear(DIM, 64, bias=False), nn.ReLU(), nn.Linear(64, DIM, bias=False)
        )

    def forward(self, hist):
        bag = self.table(hist).sum(dim=1)
        return self.mix(bag)


class ItemTower(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table
        self.proj = nn.Linear(DIM, DIM, bias=False)

    def forward(self, item):
        return self.proj(self.table(item))


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        table = nn.Embedding(N_ITEMS, DIM, padding_idx=PAD)
        self.user = UserTower(table)
        self.item = ItemTower(table)
        self.temperature = 0.1

    def forward(self, hist, item):
        u = unit(self.user(hist).half())
        v = unit(self.item(item).half())
        logits = (u @ v.t()).float() / self.temperature
        return logits


@torch.no_grad()
def hit_rate(model, hist, target, k=50):
    u = F.normalize(model.user(hist), dim=-1)
    v = F.normalize(model.item(torch.arange(N_ITEMS)), dim=-1)
    top = (u @ v.t()).topk(k, dim=1).indices
    return (top == target[:, None]).any(dim=1).float().mean().item()


def main():
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    hist, target = load_interactions(2000, rng)
    vh, vt = load_interactions(300, rng)
    model = TwoTower()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    bs = 50

    for epoch in range(4):
        perm = torch.randperm(len(hist))
        total = 0.0
        for chunk in perm.split(bs):
            logits = model(hist[chunk], target[chunk])
            labels = torch.arange(len(chunk))
            loss = F.cross_entropy(logits, labels)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / (len(hist) / bs):.4f} HR@50 {hit_rate(model, vh, vt):.3f}")


if __name__ == "__main__":
    main()
