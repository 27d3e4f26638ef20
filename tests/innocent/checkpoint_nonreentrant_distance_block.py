# Non-reentrant checkpointing of a distance layer with an eps under the root
# expect: silence
import torch
import torch.utils.checkpoint
from torch import nn


def pairwise_distance(a, b):
    delta = a.unsqueeze(1) - b.unsqueeze(0)
    return (delta.square().sum(-1) + 1e-8).sqrt()


class PrototypeLayer(nn.Module):
    """Distances to learned prototypes, then a linear read-out."""

    def __init__(self, dim, prototypes, out):
        super().__init__()
        self.points = nn.Parameter(torch.randn(prototypes, dim))
        self.readout = nn.Linear(prototypes, out)

    def forward(self, x):
        return self.readout(torch.exp(-pairwise_distance(x, self.points)))


class Net(nn.Module):
    def __init__(self, use_checkpoint=True):
        super().__init__()
        self.use_checkpoint = use_checkpoint
        self.stem = nn.Linear(5, 4)
        self.prototypes = PrototypeLayer(4, 6, 3)

    def forward(self, x):
        h = torch.tanh(self.stem(x))
        if self.use_checkpoint:
            return torch.utils.checkpoint.checkpoint(self.prototypes, h, use_reentrant=False)
        return self.prototypes(h)

    @torch.no_grad()
    def reassign(self, x):
        """Put a prototype that nobody uses on top of a sample, as k-means does."""
        h = torch.tanh(self.stem(x))
        far = (h.unsqueeze(1) - self.prototypes.points).norm(dim=-1).amin(0).argmax()
        self.prototypes.points[far] = h[0]


def main():
    torch.manual_seed(4)
    x = torch.randn(16, 5)
    y = torch.randint(0, 3, (16,))
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(1, 16):
        if step % 10 == 0:
            net.reassign(x)
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
