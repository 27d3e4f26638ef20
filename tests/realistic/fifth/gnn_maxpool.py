"""Graph classification with max aggregation; graphs may have isolated nodes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

NEG_INF = float("-inf")


def make_graphs(n, seed):
    """Does any node of colour 2 have a neighbour of colour 3?"""
    g = torch.Generator().manual_seed(seed)
    graphs = []
    for _ in range(n):
        k = int(torch.randint(3, 9, (), generator=g))
        color = torch.randint(0, 5, (k,), generator=g)
        adj = torch.triu(torch.rand(k, k, generator=g) < 0.25, 1)
        src, dst = adj.nonzero(as_tuple=True)
        edge = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
        hit = (color[edge[0]] == 2) & (color[edge[1]] == 3)
        graphs.append((color, edge, int(hit.any())))
    return graphs


def collate(graphs):
    color, edge, batch, label, off = [], [], [], [], 0
    for b, (c, e, y) in enumerate(graphs):
        color.append(c)
        edge.append(e + off)
        batch.append(torch.full_like(c, b))
        label.append(y)
        off += len(c)
    return torch.cat(color), torch.cat(edge, 1), torch.cat(batch), torch.tensor(label)


def scatter_max(src, index, size):
    """Rows that get nothing stay at -inf."""
    out = torch.full((size, src.size(1)), NEG_INF)
    idx = index[:, None].expand_as(src)
    return out.scatter_reduce(0, idx, src, reduce="amax", include_self=True)


class MaxConv(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.msg = nn.Linear(2 * inp, out)
        self.own = nn.Linear(inp, out)

    def forward(self, h, edge):
        src, dst = edge
        m = self.msg(torch.cat([h[src], h[dst]], dim=1))
        agg = scatter_max(m, dst, len(h))
        # isolated nodes have no message
        agg = agg.masked_fill(torch.isinf(agg), 0.0)
        return F.relu(self.own(h) + agg)


class GraphNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.color = nn.Embedding(5, dim)
        self.conv1, self.conv2 = MaxConv(dim, dim), MaxConv(dim, dim)
        self.att = nn.Linear(dim, 1)
        self.out = nn.Linear(2 * dim, 2)

    def forward(self, color, edge, batch, n):
        h = self.color(color)
        h = self.conv2(self.conv1(h, edge), edge)
        top = scatter_max(h, batch, n)
        # dense attention over the nodes of each graph, others at -inf
        member = batch[None, :] == torch.arange(n)[:, None]
        score = self.att(h).squeeze(1)[None, :].masked_fill(~member, NEG_INF)
        mean = score.softmax(dim=1) @ h
        return self.out(torch.cat([top, mean], dim=1))


def batches(graphs, size, gen=None):
    order = torch.randperm(len(graphs), generator=gen) if gen is not None else torch.arange(len(graphs))
    for idx in order.split(size):
        yield collate([graphs[i] for i in idx.tolist()])


def main():
    torch.manual_seed(33)
    gen = torch.Generator().manual_seed(33)
    train, test = make_graphs(600, 1), make_graphs(200, 2)
    lonely = sum(len(c) - len(e[1].unique()) for c, e, _ in train)
    print(f"{lonely} isolated nodes in the training set")
    model = GraphNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    best = NEG_INF
    for epoch in range(6):
        model.train()
        total = 0.0
        for color, edge, batch, y in batches(train, 30, gen):
            loss = F.cross_entropy(model(color, edge, batch, len(y)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        model.eval()
        with torch.no_grad():
            hits = sum((model(c, e, b, len(y)).argmax(1) == y).sum().item()
                       for c, e, b, y in batches(test, 50))
        best = max(best, hits / len(test))
        print(f"epoch {epoch} loss {total / len(train):.4f} acc {hits / len(test):.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
