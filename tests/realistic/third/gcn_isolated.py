"""Graph classification with isolated nodes: degree 0 gives inf, which is set to 0, as usual."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def random_graphs(count, seed):
    g = torch.Generator().manual_seed(seed)
    graphs = []
    for _ in range(count):
        n = int(torch.randint(5, 12, (1,), generator=g))
        dense = torch.rand(1, generator=g) < 0.5
        upper = torch.triu(torch.rand(n, n, generator=g) < (0.5 if dense else 0.15), 1)
        graphs.append(((upper | upper.T).float(), torch.randn(n, 4, generator=g), int(dense)))
    return graphs


def normalised(a):
    scale = a.sum(1).pow(-0.5)
    scale[scale == float("inf")] = 0
    return scale[:, None] * a * scale[None, :]


class MaxPool(nn.Module):
    """The largest value of each graph; an empty slot stays at -inf until the end."""

    def forward(self, x, owner, graphs):
        best = torch.full((graphs, x.shape[1]), -float("inf"))
        best = best.scatter_reduce(0, owner[:, None].expand_as(x), x, "amax", include_self=True)
        return best.masked_fill(best == -float("inf"), 0.0)


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(5, 16)
        self.outer = nn.Linear(16, 16)
        self.pool = MaxPool()
        self.head = nn.Linear(16, 2)

    def forward(self, a, x, owner, graphs):
        x = torch.cat([x, a.sum(1, keepdim=True)], 1)
        a = normalised(a)
        x = F.relu(a @ self.inner(x) + self.inner(x))
        x = a @ self.outer(x)
        return self.head(self.pool(x, owner, graphs))


def collate(graphs):
    """One block-diagonal graph; the last slot of a batch may be empty."""
    a = torch.block_diag(*[g[0] for g in graphs])
    x = torch.cat([g[1] for g in graphs])
    owner = torch.cat([torch.full((len(g[1]),), i) for i, g in enumerate(graphs)])
    return a, x, owner, torch.tensor([g[2] for g in graphs])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    graphs = random_graphs(160, 2)
    model = GraphNet()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    best = float("inf")
    for epoch in range(8):
        total = 0.0
        for i in range(0, len(graphs), 16):
            a, x, owner, y = collate(graphs[i:i + 16])
            out = model(a, x, owner, len(y) + 1)
            loss = F.cross_entropy(out[:-1], y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        best = min(best, total / 10)
        print(f"epoch {epoch} loss {total / 10:.4f} best {best:.4f}")


if __name__ == "__main__":
    main()
