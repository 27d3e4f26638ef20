"""Neural Bellman-Ford: a message-passing network learns shortest path lengths on random graphs."""
import math
import random

import torch
from torch import nn

torch.set_num_threads(1)
INF = float("inf")


def random_graph(rng, n):
    edges, w = [], []
    for i in range(n):
        for j in range(n):
            if i != j and rng.random() < 1.6 / n:
                edges.append((i, j))
                w.append(rng.uniform(0.2, 1.5))
    if not edges:
        edges, w = [(0, 1)], [1.0]
    return torch.tensor(edges).T, torch.tensor(w)


def bellman_ford(edge_index, weight, n, source=0):
    dist = torch.full((n,), INF)
    dist[source] = 0.0
    src, dst = edge_index
    for _ in range(n - 1):
        cand = dist[src] + weight
        new = dist.scatter_reduce(0, dst, cand, reduce="amin", include_self=True)
        if torch.equal(new, dist):
            break
        dist = new
    return dist


class NeuralBF(nn.Module):
    def __init__(self, dim=24, rounds=4):
        super().__init__()
        self.rounds = rounds
        self.init = nn.Linear(1, dim)
        self.msg = nn.Sequential(nn.Linear(dim + 1, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.upd = nn.GRUCell(dim, dim)
        self.read = nn.Linear(dim, 2)

    def forward(self, edge_index, weight, n):
        src, dst = edge_index
        is_source = torch.zeros(n, 1)
        is_source[0] = 1.0
        h = torch.tanh(self.init(is_source))
        for _ in range(self.rounds):
            m = self.msg(torch.cat([h[src], weight[:, None]], 1))
            agg = torch.full((n, m.shape[1]), -INF).index_reduce(0, dst, m, "amax", include_self=True)
            agg = torch.where(torch.isinf(agg), torch.zeros_like(agg), agg)
            h = self.upd(agg, h)
        length, reach = self.read(h).unbind(1)
        return nn.functional.softplus(length), reach


def loss_fn(model, graph):
    edge_index, weight, dist, n = graph
    length, reach = model(edge_index, weight, n)
    reachable = torch.isfinite(dist)
    target = torch.where(reachable, dist, torch.zeros_like(dist))
    sq = (length - target).square() * reachable
    bce = nn.functional.binary_cross_entropy_with_logits(reach, reachable.float())
    return sq.sum() / reachable.sum() + 0.5 * bce, (sq.sum().item(), reachable.sum().item())


def make_set(count, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(count):
        n = rng.randint(6, 12)
        ei, w = random_graph(rng, n)
        out.append((ei, w, bellman_ford(ei, w, n), n))
    return out


def main(epochs=3):
    torch.manual_seed(4)
    train, test = make_set(40, 1), make_set(15, 2)
    unreach = sum(int(torch.isinf(d).sum()) for *_, d, _ in train)
    longest = max(float(d.max()) for *_, d, _ in train)
    print(f"{unreach} unreachable nodes, longest distance {longest}")
    model = NeuralBF()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    best = INF
    for epoch in range(epochs):
        random.Random(epoch).shuffle(train)
        running = 0.0
        for g in train:
            loss, _ = loss_fn(model, g)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            running += loss.item()
        with torch.no_grad():
            parts = [loss_fn(model, g)[1] for g in test]
        rmse = math.sqrt(sum(a for a, _ in parts) / sum(b for _, b in parts))
        best = min(best, rmse)
        print(f"epoch {epoch} loss {running / len(train):.4f} test rmse {rmse:.4f} best {best:.4f}")


if __name__ == "__main__":
    main()
