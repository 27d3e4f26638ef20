"""Two-layer graph convolution over sampled neighbourhoods of a citation graph."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def citation_graph(n=300, classes=3, seed=7):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, classes, (n,), generator=g)
    close = label[:, None] == label[None, :]
    chance = torch.where(close, 0.06, 0.008)
    upper = torch.triu(torch.rand(n, n, generator=g) < chance, diagonal=1)
    adjacency = (upper | upper.T).float()
    feature = F.one_hot(label, classes).float() + torch.randn(n, classes, generator=g)
    words = torch.randn(n, 8, generator=g)
    return adjacency, torch.cat([feature, words], dim=1), label


def symmetric(adjacency):
    """D^-1/2 A D^-1/2 of Kipf and Welling."""
    degree = adjacency.sum(dim=1)
    scale = degree.pow(-0.5)
    return scale[:, None] * adjacency * scale[None, :]


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Linear(inputs, outputs)

    def forward(self, a, x):
        return a @ self.weight(x)


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.conv1 = GraphConv(inputs, hidden)
        self.conv2 = GraphConv(hidden, classes)

    def forward(self, adjacency, x):
        a = symmetric(adjacency)
        x = F.dropout(F.relu(self.conv1(a, x)), 0.3, self.training)
        return self.conv2(a, x)


def sampled(adjacency, x, y, size, generator):
    rows = torch.randperm(len(x), generator=generator)[:size]
    return adjacency[rows][:, rows], x[rows], y[rows]


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    adjacency, x, y = citation_graph()
    model = GCN(x.shape[1], 16, 3)
    opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    g = torch.Generator().manual_seed(12)
    for step in range(100):
        a, xs, ys = sampled(adjacency, x, y, 150, g)
        loss = F.cross_entropy(model(a, xs), ys)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            model.eval()
            with torch.no_grad():
                accuracy = (model(adjacency, x).argmax(1) == y).float().mean().item()
            model.train()
            print(f"{step:3d} loss {loss.item():.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
