# Per-class accuracy is NaN for a class absent from the split; it is only printed beside a healthy loss
# expect: silence
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.1))
        self.classifier = nn.Linear(20, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


def per_class_accuracy(logits, labels, classes):
    hit = (logits.argmax(-1) == labels).float()
    return torch.stack([hit[labels == c].mean() for c in range(classes)])


@torch.no_grad()
def evaluate(model, x, y, classes):
    model.eval()
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    accuracy = per_class_accuracy(logits, y, classes)
    model.train()
    return loss.item(), accuracy


def main():
    torch.manual_seed(0)
    x = torch.randn(120, 5)
    y = torch.arange(120) % 3
    y[96:] = torch.arange(24) % 2  # the validation split has no sample of class 2
    loader = DataLoader(TensorDataset(x[:96], y[:96]), batch_size=12, shuffle=True)
    model = Net(3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(3):
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        value, accuracy = evaluate(model, x[96:], y[96:], 3)
        text = " ".join(f"{a:.2f}" for a in accuracy.tolist())
        print(f"epoch {epoch} train {loss.item():.4f} validation {value:.4f} accuracy {text}")
    print("macro accuracy", evaluate(model, x[96:], y[96:], 3)[1].mean())


if __name__ == "__main__":
    main()
