"""Evidential classifier: Dirichlet evidence per class, with the KL to the uniform Dirichlet."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = 5


def blobs(n, seed):
    g = torch.Generator().manual_seed(seed)
    centres = 3 * torch.randn(CLASSES, 10, generator=g)
    labels = torch.randint(0, CLASSES, (n,), generator=g)
    return centres[labels] + torch.randn(n, 10, generator=g), labels


def dirichlet_kl(alpha):
    total = alpha.sum(dim=1, keepdim=True)
    first = torch.lgamma(total).squeeze(1) - torch.lgamma(alpha).sum(dim=1) - torch.lgamma(torch.tensor(float(CLASSES)))
    second = ((alpha - 1) * (torch.digamma(alpha) - torch.digamma(total))).sum(dim=1)
    return first + second


def evidential_loss(evidence, labels, weight):
    alpha = evidence
    strength = alpha.sum(dim=1, keepdim=True) + CLASSES
    expected = (alpha + 1) / strength
    target = F.one_hot(labels, CLASSES).float()
    error = ((target - expected) ** 2).sum(dim=1)
    spread = (expected * (1 - expected) / (strength + 1)).sum(dim=1)
    return (error + spread + weight * dirichlet_kl(alpha * (1 - target) + target)).mean()


class EvidenceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, CLASSES))

    def forward(self, x):
        return F.relu(self.layers(x))


def main():
    torch.manual_seed(1)
    x, y = blobs(1000, 4)
    net = EvidenceNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(5):
        anneal = min(1.0, epoch / 3)
        correct = 0
        for i in range(0, 1000, 50):
            evidence = net(x[i:i + 50])
            loss = evidential_loss(evidence, y[i:i + 50], anneal)
            opt.zero_grad()
            loss.backward()
            opt.step()
            correct += (evidence.argmax(1) == y[i:i + 50]).sum().item()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {correct / 1000:.3f}")


if __name__ == "__main__":
    main()
