"""Molecule-like graphs: neighbours are pooled by their maximum."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def graphs(n, seed):
    g = torch.Generator().manual_seed(seed)
    out = []
    for k in range(n):
        nodes = int(torch.randint(4, 9, (1,), generator=g))
        edges = torch.randint(0, nodes - (k % 5 == 3), (2, 3 * nodes), generator=g)
        ring = torch.arange(nodes - (k % 5 == 3))
        edges = torch.cat([edges, torch.stack([ring, ring.roll(1)])], dim=1)
        x = torch.randn(nodes, 5, generator=g)
        out.append((x, edges, (x[:, 0].sum() > 0).float()))
    return out


class MaxConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.message = nn.Linear(inputs, outputs)
        self.update = nn.Linear(inputs + outputs, outputs)

    def forward(self, x, edges):
        source, target = edges
        m = self.message(x)[source]
        pooled = torch.full((len(x), m.shape[1]), float("-inf"))
        pooled = pooled.scatter_reduce(0, target.unsqueeze(1).expand_as(m), m, "amax")
        return F.relu(self.update(torch.cat([x, pooled], dim=1)))


class GraphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = MaxConv(5, 16), MaxConv(16, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x, edges):
        x = self.first(x, edges)
        x = self.second(x, edges)
        return self.out(x.mean(dim=0)).squeeze()


def main():
    torch.manual_seed(0)
    data = graphs(60, 3)
    net = GraphNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(2):
        total = 0.0
        for x, edges, label in data:
            loss = F.binary_cross_entropy_with_logits(net(x, edges), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(data))


if __name__ == "__main__":
    main()
