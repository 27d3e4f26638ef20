"""Graph classification with learned edge weights and spectral positional encodings."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

MAX_NODES = 10
K = 4


def make_graph(rng, label):
    """Label 0: ring-like, label 1: star-like, with a few random extra edges."""
    n = MAX_NODES if rng.random() > 0.02 else rng.randint(6, MAX_NODES - 2)
    edges = {(i, (i + 1) % n) for i in range(n)} if label == 0 else {(0, i) for i in range(1, n)}
    for _ in range(2):
        a, b = rng.sample(range(n), 2)
        edges.add((a, b))
    x = torch.tensor([[rng.gauss(0, 1) for _ in range(3)] for _ in range(n)])
    return n, sorted(edges), x, label


def collate(graphs):
    B = len(graphs)
    feats = torch.zeros(B, MAX_NODES, 3)
    adj = torch.zeros(B, MAX_NODES, MAX_NODES)
    mask = torch.zeros(B, MAX_NODES)
    for b, (n, edges, x, _) in enumerate(graphs):
        feats[b, :n] = x
        mask[b, :n] = 1
        for i, j in edges:
            adj[b, i, j] = adj[b, j, i] = 1.0
    return feats, adj, mask, torch.tensor([g[3] for g in graphs])


class EdgeWeights(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.f = nn.Linear(d, 8)

    def forward(self, x, adj):
        h = torch.tanh(self.f(x))
        return adj * torch.sigmoid(h @ h.transpose(1, 2))


class SpectralNet(nn.Module):
    def __init__(self, d=3, hidden=24):
        super().__init__()
        self.edge = EdgeWeights(d)
        self.inp = nn.Linear(d + K, hidden)
        self.conv = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, adj, mask):
        w = self.edge(x, adj)
        lap = torch.diag_embed(w.sum(-1)) - w
        evals, evecs = torch.linalg.eigh(lap)
        pe = evecs[..., :K].abs() * torch.exp(-evals[:, None, :K])
        h = F.relu(self.inp(torch.cat([x, pe], -1)))
        h = h + F.relu(self.conv(w @ h))
        pooled = (h * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        return self.out(pooled)


def main():
    rng = random.Random(3)
    torch.manual_seed(3)
    graphs = [make_graph(rng, i % 2) for i in range(160)]
    rng.shuffle(graphs)
    train, test = graphs[:128], graphs[128:]
    model = SpectralNet()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    lr_at = lambda step: 0.5 * (1 + math.cos(math.pi * step / 40))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)

    for epoch in range(4):
        rng.shuffle(train)
        losses = []
        for i in range(0, len(train), 16):
            x, adj, mask, y = collate(train[i : i + 16])
            loss = F.cross_entropy(model(x, adj, mask), y)
            opt.zero_grad()
            loss.backward()
            grad_norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            losses.append(loss.item())
        with torch.no_grad():
            x, adj, mask, y = collate(test)
            acc = (model(x, adj, mask).argmax(1) == y).float().mean().item()
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} gnorm {grad_norm:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
