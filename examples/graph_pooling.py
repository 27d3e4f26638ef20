"""Division: the mean over each node's neighbours, in a graph where one node has none."""

import torch
from torch import nn


class MeanAggregation(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.project = nn.Linear(2 * features, hidden)

    def forward(self, x: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        degree = adjacency.sum(1, keepdim=True)
        neighbours = adjacency @ x / degree
        return torch.relu(self.project(torch.cat([x, neighbours], 1)))


def random_graph(nodes: int, batch: int) -> torch.Tensor:
    adjacency = (torch.rand(nodes, nodes) < 0.3).float()
    adjacency = torch.maximum(adjacency, adjacency.T)
    if batch == 5:  # a user without a single friend
        adjacency[7] = 0
        adjacency[:, 7] = 0
    return adjacency


torch.manual_seed(0)
layer, head = MeanAggregation(8, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=1e-2)
for batch in range(20):
    features, target = torch.randn(24, 8), torch.randn(24, 1)
    prediction = head(layer(features, random_graph(24, batch)))
    loss = nn.functional.mse_loss(prediction, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"batch {batch}  loss {loss.item():.3f}")
