import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
random.seed(11)
torch.manual_seed(11)

NUM_ATOM_TYPES = 6
EPOCHS = 4
BATCH = 16


def random_molecule(rng):
    """A small tree-like molecule with a few ring closures; salts carry a free counter-ion."""
    n = rng.randint(4, 9)
    atoms = [rng.randrange(NUM_ATOM_TYPES - 1) for _ in range(n)]
    bonds = [(i, rng.randrange(i)) for i in range(1, n)]
    if n > 6 and rng.random() < 0.5:
        bonds.append((0, n - 1))
    if rng.random() < 0.006:
        atoms.append(NUM_ATOM_TYPES - 1)
    target = sum(atoms) / 10 + 0.3 * len(bonds) - 1.5
    return atoms, bonds, target


class MoleculeSet(Dataset):
    def __init__(self, size, seed):
        rng = random.Random(seed)
        self.items = [random_molecule(rng) for _ in range(size)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    n = max(len(a) for a, _, _ in items)
    atoms = torch.zeros(len(items), n, dtype=torch.long)
    valid = torch.zeros(len(items), n, dtype=torch.bool)
    adj = torch.zeros(len(items), n, n, dtype=torch.bool)
    y = torch.tensor([t for _, _, t in items])
    for b, (types, bonds, _) in enumerate(items):
        atoms[b, : len(types)] = torch.tensor(types)
        valid[b, : len(types)] = True
        for i, j in bonds:
            adj[b, i, j] = adj[b, j, i] = True
        # padding slots look at themselves
        pad = torch.arange(len(types), n)
        adj[b, pad, pad] = True
    return atoms, adj, valid, y


class GraphAttention(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads, self.dk = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, adj):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, self.dk).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.dk)
        scores = scores.masked_fill(~adj.unsqueeze(1), float("-inf"))
        attn = scores.softmax(dim=-1)
        msg = (attn @ v).transpose(1, 2).reshape(b, n, d)
        return self.norm(x + self.out(msg))


class GAT(nn.Module):
    def __init__(self, dim=24, depth=2):
        super().__init__()
        self.embed = nn.Embedding(NUM_ATOM_TYPES, dim)
        self.layers = nn.ModuleList(GraphAttention(dim) for _ in range(depth))
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, 1))

    def forward(self, atoms, adj, valid):
        h = self.embed(atoms)
        for layer in self.layers:
            h = layer(h, adj)
        h = h.masked_fill(~valid.unsqueeze(-1), 0.0).sum(1)
        return self.head(h / valid.sum(1, keepdim=True)).squeeze(-1)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    err, cnt = 0.0, 0
    for atoms, adj, valid, y in loader:
        err += (model(atoms, adj, valid) - y).abs().sum().item()
        cnt += len(y)
    model.train()
    return err / cnt


def main():
    train = DataLoader(MoleculeSet(256, seed=12), BATCH, shuffle=True, collate_fn=collate)
    val = DataLoader(MoleculeSet(48, seed=6), BATCH, collate_fn=collate)
    model = GAT()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * len(train))
    for epoch in range(EPOCHS):
        total = 0.0
        for atoms, adj, valid, y in train:
            loss = nn.functional.smooth_l1_loss(model(atoms, adj, valid), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        print(f"epoch {epoch}: train {total / len(train):.4f}  val MAE {evaluate(model, val):.4f}")


if __name__ == "__main__":
    main()
