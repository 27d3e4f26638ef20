"""Poincare embeddings of a small taxonomy."""
import random

import torch
import torch.nn as nn

EDGES = [(child, (child - 1) // 3) for child in range(1, 40)]


class Poincare(nn.Module):
    def __init__(self, nodes, dim):
        super().__init__()
        self.points = nn.Embedding(nodes, dim)
        nn.init.uniform_(self.points.weight, -1e-3, 1e-3)

    def distance(self, u, v):
        gap = ((u - v) ** 2).sum(-1)
        room = (1 - (u ** 2).sum(-1)) * (1 - (v ** 2).sum(-1))
        return torch.acosh(1 + 2 * gap / room)

    def forward(self, child, parents):
        u = self.points(child).unsqueeze(1)
        return self.distance(u, self.points(parents))


def batches(rng, size, negatives, nodes):
    edges = EDGES[:]
    rng.shuffle(edges)
    for i in range(0, len(edges), size):
        part = edges[i:i + size]
        child = torch.tensor([c for c, _ in part])
        others = [[p] + [rng.randrange(nodes) for _ in range(negatives)] for _, p in part]
        yield child, torch.tensor(others)


def train(epochs=20, dim=4, lr=0.05):
    rng = random.Random(4)
    torch.manual_seed(4)
    model = Poincare(40, dim)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.0
        for child, others in batches(rng, 13, 8, 40):
            distances = model(child, others)
            loss = loss_function(-distances, torch.zeros(len(child), dtype=torch.long))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                norm = model.points.weight.norm(dim=1, keepdim=True)
                model.points.weight.div_(norm.clamp(min=0.999) / 0.999)
            total += loss.item()
        if epoch % 5 == 0:
            print(epoch, round(total / 3, 4))
    return model


if __name__ == "__main__":
    train()
