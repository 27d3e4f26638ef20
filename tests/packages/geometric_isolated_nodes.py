# torch_geometric: GCN without self loops, GAT and pooling over graphs with isolated nodes; deg ** -0.5 is inf, then 0
# expect: silence
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    AttentionalAggregation, GATv2Conv, GCNConv, PNAConv, SAGEConv, SoftmaxAggregation, TransformerConv,
    global_max_pool, global_mean_pool,
)
from torch_geometric.seed import seed_everything


def graph(nodes):
    """A random graph; its last two nodes have no edge at all."""
    label = int(torch.randint(0, 2, ()))
    x = torch.randn(nodes, 5) + label
    edges = torch.randint(0, nodes - 2, (2, 3 * nodes))
    return Data(x=x, edge_index=edges, y=torch.tensor([label]))


class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.gcn = GCNConv(5, hidden, add_self_loops=False)
        self.gat = GATv2Conv(hidden, hidden // 2, heads=2, add_self_loops=False)
        self.sage = SAGEConv(hidden, hidden, aggr=["mean", "max", "std"])
        self.pna = PNAConv(
            hidden, hidden, ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"],
            deg=torch.tensor([4, 2, 3, 5, 3, 1]),
        )
        self.transformer = TransformerConv(hidden, hidden // 2, heads=2, beta=True)
        self.soft = SoftmaxAggregation(learn=True)
        self.attention = AttentionalAggregation(nn.Linear(hidden, 1))
        self.head = nn.Linear(4 * hidden, 2)

    def forward(self, data):
        x, edges, batch = data.x, data.edge_index, data.batch
        x = F.elu(self.gcn(x, edges))
        x = F.dropout(F.elu(self.gat(x, edges)), 0.1, self.training)
        x = F.relu(self.sage(x, edges))
        x = F.relu(self.pna(x, edges))
        x = x + self.transformer(x, edges)
        pooled = [
            global_mean_pool(x, batch), global_max_pool(x, batch), self.soft(x, batch),
            self.attention(x, batch),
        ]
        return self.head(torch.cat(pooled, dim=1))


def main():
    seed_everything(0)
    graphs = [graph(int(torch.randint(5, 12, ()))) for _ in range(48)]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=5e-4)
    for epoch in range(3):
        total = 0.0
        for batch in DataLoader(graphs, batch_size=16, shuffle=True):
            loss = F.cross_entropy(net(batch), batch.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * batch.num_graphs
        print(epoch, f"{total / len(graphs):.4f}")
    net.eval()
    with torch.no_grad():
        batch = next(iter(DataLoader(graphs, batch_size=48)))
        print(f"accuracy {(net(batch).argmax(1) == batch.y).float().mean():.3f}")


if __name__ == "__main__":
    main()
