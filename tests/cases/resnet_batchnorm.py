# ResNet with BatchNorm: an image that is all black is divided by its standard deviation
# expect: error
# phase: forward
# op: aten::div
# line: 65
# cause: division_by_zero | bad_input_data
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Shapes(Dataset):
    """Tiny grey images: a bright square or a bright bar. Some scans came out black."""

    def __init__(self, n=48, black=()):
        g = torch.Generator().manual_seed(7)
        self.images = torch.rand(n, 1, 12, 12, generator=g) * 0.2
        self.labels = torch.arange(n) % 2
        for i in range(n):
            if self.labels[i]:
                self.images[i, :, 3:8, 3:8] += 0.7
            else:
                self.images[i, :, 5:7, :] += 0.7
        for i in black:
            self.images[i] = 0.0

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def conv_bn(inputs, outputs, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
    )


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.a = conv_bn(inputs, outputs, stride)
        self.b = conv_bn(outputs, outputs)
        self.short = nn.Identity() if inputs == outputs and stride == 1 else conv_bn(inputs, outputs, stride)

    def forward(self, x):
        return F.relu(self.b(F.relu(self.a(x))) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, widths=(4, 8, 8), classes=2):
        super().__init__()
        self.stem = conv_bn(1, widths[0])
        self.stages = nn.Sequential(
            *(Residual(a, b, 2 if a != b else 1) for a, b in zip(widths, widths[1:]))
        )
        self.head = nn.Linear(widths[-1], classes)

    @staticmethod
    def standardise(x):
        mean = x.mean(dim=(1, 2, 3), keepdim=True)
        std = x.std(dim=(1, 2, 3), keepdim=True)
        return (x - mean) / std

    def forward(self, x):
        x = F.relu(self.stem(self.standardise(x)))
        x = F.max_pool2d(x, 3, 2, 1)
        return self.head(self.stages(x).mean(dim=(2, 3)))


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(0)
train = DataLoader(Shapes(black=(33,)), batch_size=8, shuffle=False)
model = ResNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
for epoch in range(2):
    for images, labels in train:
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    schedule.step()
    print("epoch", epoch, "accuracy", round(accuracy(model, train), 2))
