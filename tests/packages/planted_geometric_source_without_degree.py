# torch_geometric: a layer that normalises by the in-degree by hand; a source that nothing points at has degree 0
# expect: error
# phase: forward
# op: aten::pow
# line: 24
# cause: division_by_zero
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MessagePassing, global_add_pool
from torch_geometric.utils import degree


class Convolution(MessagePassing):
    def __init__(self, inputs, outputs):
        super().__init__(aggr="add")
        self.lin = nn.Linear(inputs, outputs)

    def forward(self, x, edge_index):
        source, target = edge_index
        deg = degree(target, x.size(0), dtype=x.dtype)
        scale = deg.pow(-0.5)
        norm = scale[source] * scale[target]
        return self.propagate(edge_index, x=self.lin(x), norm=norm)

    def message(self, x_j, norm):
        return norm.view(-1, 1) * x_j


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(4, 16), Convolution(16, 2)

    def forward(self, data):
        h = F.relu(self.first(data.x, data.edge_index))
        return global_add_pool(self.second(h, data.edge_index), data.batch)


def graph(nodes=8, leader=False):
    ring = torch.arange(nodes)
    edges = torch.stack([ring, ring.roll(1)])
    if leader:  # the last node speaks to the first and hears nothing
        edges = torch.stack([ring, ring.roll(-1)])
        edges = edges[:, edges[1] != nodes - 1]
    return Data(x=torch.randn(nodes, 4), edge_index=edges, y=torch.randint(0, 2, (1,)))


def main():
    torch.manual_seed(0)
    graphs = [graph() for _ in range(16)] + [graph(leader=True) for _ in range(4)]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step, batch in enumerate(DataLoader(graphs, batch_size=4)):
        loss = F.cross_entropy(net(batch), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
