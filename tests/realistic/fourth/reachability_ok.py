"""Learned edge costs: shortest paths by min-plus products with infinities, loss only over reachable pairs."""
import torch
import torch.nn as nn


def road_map(nodes, seed):
    g = torch.Generator().manual_seed(seed)
    edges = (torch.rand(nodes, nodes, generator=g) < 0.25).fill_diagonal_(False)
    edges[-1] = False
    edges[:, -1] = False
    features = torch.rand(nodes, nodes, 3, generator=g)
    return edges, features


def all_pairs(cost, rounds):
    distance = cost
    for _ in range(rounds):
        through = (distance.unsqueeze(2) + cost.unsqueeze(0)).amin(dim=1)
        distance = torch.minimum(distance, through)
    return distance


class Cost(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softplus())

    def forward(self, features, edges):
        cost = self.net(features).squeeze(-1)
        cost = cost.masked_fill(~edges, torch.inf)
        eye = torch.eye(len(edges), dtype=torch.bool)
        return cost.masked_fill(eye, 0.0)


def main():
    torch.manual_seed(0)
    edges, features = road_map(12, 4)
    teacher = features.sum(-1).masked_fill(~edges, torch.inf).fill_diagonal_(0.0)
    target = all_pairs(teacher, 4)
    model = Cost()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(40):
        distance = all_pairs(model(features, edges), 4)
        reachable = torch.isfinite(target)
        loss = (distance[reachable] - target[reachable]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            eccentricity = distance.detach().amax(dim=1)
            print(step, f"{loss.item():.4f}", "eccentricity", eccentricity.tolist())
    closeness = (1 / distance.detach().sum(dim=1))
    print("closeness", closeness.tolist())


if __name__ == "__main__":
    main()
