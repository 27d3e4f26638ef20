# Class-balanced loss: the mean over the samples of a class that is absent from the batch
# expect: error
# phase: forward
# op: aten::mean
# line: 15
# cause: empty_reduction
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def balanced_loss(logits, labels, classes):
    each = F.cross_entropy(logits, labels, reduction="none")
    per_class = [each[labels == c].mean() for c in range(classes)]
    return torch.stack(per_class).mean()


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.1))
        self.classifier = nn.Linear(20, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


def main():
    torch.manual_seed(0)
    x = torch.randn(100, 5)
    y = torch.arange(100) % 3
    y[72:] = torch.arange(28) % 2  # the rare class ends early
    loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=False)
    model = Net(3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(2):
        running = 0.0
        for xb, yb in loader:
            loss = balanced_loss(model(xb), yb, 3)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"epoch {epoch} loss {running / len(loader):.4f}")


if __name__ == "__main__":
    main()
