"""Texture classification with bilinear pooling and signed square-root normalisation."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SignedSqrt(torch.autograd.Function):
    """sign(x) * sqrt(|x|), keeps only the output for the backward pass."""

    @staticmethod
    def forward(ctx, x):
        y = torch.sign(x) * torch.sqrt(torch.abs(x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad / (2.0 * y.abs())


def textures(n, size=16, seed=0):
    """Oriented gratings with noise, standardised; a few crops come from empty tiles."""
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    label = torch.randint(0, 4, (n,), generator=g)
    theta = label * (torch.pi / 4)
    freq = 0.8 + 0.4 * torch.rand(n, generator=g)
    phase = 6.28 * torch.rand(n, generator=g)
    wave = (torch.cos(theta)[:, None, None] * xx + torch.sin(theta)[:, None, None] * yy)
    img = torch.sin(freq[:, None, None] * wave + phase[:, None, None])
    img = img + 1.2 * torch.randn(n, size, size, generator=g)
    img = (img - img.mean((1, 2), keepdim=True)) / img.std((1, 2), keepdim=True)
    empty = torch.rand(n, generator=g) < 0.004
    img[empty] = 0.0
    return img.unsqueeze(1), label


class BilinearNet(nn.Module):
    def __init__(self, ch=8, classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, ch, 3, padding=1)
        self.bn = nn.BatchNorm2d(ch)
        self.fc = nn.Linear(ch * ch, classes)

    def features(self, x):
        x = F.max_pool2d(F.leaky_relu(self.conv1(x), 0.3), 2)
        return F.relu(self.bn(self.conv2(x))).flatten(2)

    def forward(self, x):
        f = self.features(x)
        gram = torch.bmm(f, f.transpose(1, 2)) / f.size(-1)
        z = SignedSqrt.apply(gram.flatten(1))
        z = F.normalize(z, dim=1)
        return self.fc(z)


@torch.no_grad()
def accuracy(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(21)
    x, y = textures(1200, seed=21)
    xv, yv = textures(300, seed=22)
    loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
    model = BilinearNet()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=5)

    for epoch in range(5):
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        print(f"epoch {epoch} loss {total / len(loader):.4f} acc {accuracy(model, xv, yv):.3f}")


if __name__ == "__main__":
    main()
