# torch_geometric: amounts kept in float16; the sum over the neighbours of a hub passes 65504
# expect: error
# phase: forward
# op: aten::scatter_add_ | aten::scatter_add
# line: 23
# cause: float_overflow | half_overflow
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import SimpleConv


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.around = SimpleConv(aggr="sum")
        self.norm = nn.LayerNorm(6)
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, amounts, edges):
        total = self.around(amounts, edges)
        return self.net(self.norm(torch.cat([amounts, total], dim=1).float()))


def accounts(nodes=40, hub=False):
    amounts = torch.rand(nodes, 3) * 3000
    edges = torch.randint(0, nodes, (2, 2 * nodes))
    if hub:  # everybody pays to the first
        payers = torch.arange(1, nodes)
        edges = torch.stack([payers, torch.zeros_like(payers)])
    return Data(x=amounts.half(), edge_index=edges, y=torch.randint(0, 2, (nodes,)))


def main():
    torch.manual_seed(0)
    graphs = [accounts() for _ in range(12)] + [accounts(nodes=120, hub=True)]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step, batch in enumerate(DataLoader(graphs, batch_size=4)):
        loss = F.cross_entropy(net(batch.x, batch.edge_index), batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
