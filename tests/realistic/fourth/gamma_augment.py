"""Photo classifier with a random gamma augmentation after normalisation."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, image):
        return (image - self.mean) / self.std


class RandomGamma:
    def __init__(self, low, high, rng):
        self.low, self.high, self.rng = low, high, rng

    def __call__(self, image):
        gamma = self.rng.uniform(self.low, self.high)
        return image ** gamma


class Photos(torch.utils.data.Dataset):
    def __init__(self, n, transforms, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        self.images = torch.rand(n, 3, 12, 12, generator=g) * (0.4 + 0.15 * self.labels.view(-1, 1, 1, 1))
        self.transforms = transforms

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i]
        for transform in self.transforms:
            image = transform(image)
        return image, self.labels[i]


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    data = Photos(256, [Normalize(0.3, 0.2), RandomGamma(0.7, 1.5, rng)], seed=8)
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for images, labels in loader:
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
