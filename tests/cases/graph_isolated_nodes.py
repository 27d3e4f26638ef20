# Graph network: degree ** -0.5 of an isolated node, times zero
# expect: error
# phase: forward
# op: aten::pow
# line: 45
# cause: division_by_zero | zero_times_inf | pow_domain
import torch
from torch import nn
from torch.nn.functional import cross_entropy, dropout, elu, leaky_relu


class GraphConvolution(nn.Module):
    """Kipf & Welling, dense: D^-1/2 A D^-1/2 X W, without self loops."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return normalise(adjacency) @ (x @ self.weight) + self.bias


class GraphAttention(nn.Module):
    """Attention over the incoming edges of every node (segment softmax)."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.score = nn.Linear(2 * outputs, 1)

    def forward(self, x, edges):
        src, dst = edges
        h = self.lin(x)
        e = leaky_relu(self.score(torch.cat([h[src], h[dst]], dim=1)), 0.2).squeeze(1)
        top = torch.full((len(x),), float("-inf")).scatter_reduce(0, dst, e.detach(), "amax")
        e = (e - top[dst]).exp()
        total = torch.zeros(len(x)).index_add(0, dst, e)
        return torch.zeros_like(h).index_add(0, dst, (e / total[dst])[:, None] * h[src])


def normalise(adjacency):
    degree = adjacency.sum(dim=1)
    inverse = degree.pow(-0.5)
    return inverse[:, None] * adjacency * inverse[None, :]


class Net(nn.Module):
    def __init__(self, features=6, hidden=8, classes=3):
        super().__init__()
        self.first = GraphConvolution(features, hidden)
        self.second = GraphAttention(hidden, hidden)
        self.readout = nn.Linear(2 * hidden, classes)

    def forward(self, x, adjacency):
        h = elu(self.first(x, adjacency))
        h = dropout(h, 0.1, self.training)
        g = self.second(h, adjacency.nonzero().T)
        return self.readout(torch.cat([h, g], dim=1))


def random_graph(nodes, isolated=0):
    upper = (torch.rand(nodes, nodes) < 0.4).float().triu(1)
    adjacency = upper + upper.T
    ring = torch.arange(nodes)
    adjacency[ring, ring.roll(1)] = adjacency[ring.roll(1), ring] = 1.0
    if isolated:
        adjacency[-isolated:], adjacency[:, -isolated:] = 0.0, 0.0
    labels = torch.randint(0, 3, (nodes,))
    return torch.randn(nodes, 6) + labels[:, None], adjacency, labels


def main():
    torch.manual_seed(5)
    graphs = [random_graph(9) for _ in range(5)] + [random_graph(9, isolated=2) for _ in range(3)]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=5e-4)
    for epoch in range(2):
        net.train()
        losses = []
        for x, adjacency, labels in graphs:
            optimizer.zero_grad()
            loss = cross_entropy(net(x, adjacency), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        print(f"epoch {epoch} loss {torch.stack(losses).mean():.3f}")


if __name__ == "__main__":
    main()
