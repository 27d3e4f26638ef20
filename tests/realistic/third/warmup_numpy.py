"""Image classifier with a warm-up and a cosine schedule that is computed beforehand."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

config = dict(
    epochs=6,
    warmup_epochs=6,  # the long run has 60 epochs
    base_lr=0.1,
    final_lr=1e-4,
    batch_size=32,
    samples=512,
)


def schedule(cfg, steps_per_epoch):
    """The learning rate of every step, as a NumPy array."""
    total = cfg["epochs"] * steps_per_epoch
    warm = cfg["warmup_epochs"] * steps_per_epoch
    step = np.arange(total + 1)
    ramp = cfg["base_lr"] * step / max(1, warm)
    progress = (step - warm) / np.float64(total - warm)
    cosine = cfg["final_lr"] + 0.5 * (cfg["base_lr"] - cfg["final_lr"]) * (1 + np.cos(np.pi * progress))
    return np.where(step < warm, ramp, cosine)


def pictures(n):
    g = torch.Generator().manual_seed(8)
    label = torch.randint(0, 4, (n,), generator=g)
    image = 0.3 * torch.randn(n, 1, 12, 12, generator=g)
    for i, c in enumerate(label.tolist()):
        row, col = divmod(c, 2)
        image[i, 0, 6 * row + 1:6 * row + 5, 6 * col + 1:6 * col + 5] += 1.0
    return image, label


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean((2, 3)))


def main(cfg):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    image, label = pictures(cfg["samples"])
    batches = cfg["samples"] // cfg["batch_size"]
    rates = schedule(cfg, batches)
    model = SmallNet()
    opt = torch.optim.SGD(model.parameters(), lr=cfg["base_lr"], momentum=0.9, weight_decay=5e-4)
    step = 0
    for epoch in range(cfg["epochs"]):
        order = torch.randperm(cfg["samples"])
        for part in order.split(cfg["batch_size"]):
            step += 1
            for group in opt.param_groups:
                group["lr"] = float(rates[step])
            loss = F.cross_entropy(model(image[part]), label[part])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(image).argmax(1) == label).float().mean()
        model.train()
        print(f"epoch {epoch} lr {rates[step]:.4f} loss {loss:.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main(config)
