"""Street scene segmentation; mIoU over the classes that occur."""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES = ["road", "sky", "car", "person", "train"]
IGNORE = 255


class Street(Dataset):
    def __init__(self, n, seed, size=20):
        rng = np.random.default_rng(seed)
        palette = rng.normal(size=(len(CLASSES), 3)) if seed == 0 else Street.palette
        Street.palette = palette
        self.items = []
        for _ in range(n):
            y = np.zeros((size, size), dtype=np.int64)
            y[: size // 2] = 1
            for c, p in ((2, 0.7), (3, 0.3)):
                if rng.random() < p:
                    r, k = rng.integers(8, size - 5), rng.integers(0, size - 5)
                    y[r:r + 5, k:k + 4] = c
            x = palette[y].transpose(2, 0, 1) + 0.4 * rng.normal(size=(3, size, size))
            y[:, 0] = IGNORE
            self.items.append((x.astype(np.float32), y))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class ConfusionMatrix:
    def __init__(self, k):
        self.k = k
        self.mat = torch.zeros(k, k)

    def update(self, pred, target):
        keep = target != IGNORE
        idx = target[keep] * self.k + pred[keep]
        self.mat += torch.bincount(idx, minlength=self.k ** 2).view(self.k, self.k)

    def iou(self):
        """per class, nan where the class is neither present nor predicted"""
        inter = self.mat.diag()
        union = self.mat.sum(0) + self.mat.sum(1) - inter
        return inter / union

    def recall(self):
        return self.mat.diag() / self.mat.sum(1)

    def miou(self):
        return self.iou().nanmean().item()


class FCN(nn.Module):
    def __init__(self, k, ch=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, ch, 3, padding=1), nn.BatchNorm2d(ch), nn.ReLU(),
            nn.Conv2d(ch, ch, 3, padding=2, dilation=2), nn.BatchNorm2d(ch), nn.ReLU(),
            nn.Conv2d(ch, k, 1),
        )

    def forward(self, x):
        return self.net(x)


def class_weights(dataset):
    """median frequency balancing; absent classes get weight zero"""
    counts = torch.zeros(len(CLASSES))
    for _, y in dataset:
        counts += torch.bincount(torch.from_numpy(y[y != IGNORE]), minlength=len(CLASSES))
    freq = counts / counts.sum()
    w = (freq[freq > 0].median() / freq).sqrt()
    return torch.where(torch.isinf(w), torch.zeros_like(w), w)


def evaluate(model, loader):
    model.eval()
    cm = ConfusionMatrix(len(CLASSES))
    with torch.no_grad():
        for x, y in loader:
            cm.update(model(x).argmax(1), y)
    return cm


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=5e-2)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train_set, val_set = Street(64, 0), Street(16, 1)
    train, val = DataLoader(train_set, 4, shuffle=True), DataLoader(val_set, 8)
    weight = class_weights(train_set)
    print("class weights", [round(v, 2) for v in weight.tolist()])
    model = FCN(len(CLASSES))
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    poly = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=args.epochs * len(train), power=0.9)
    best, ckpt = -float("inf"), os.path.join(tempfile.mkdtemp(), "fcn.pt")
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y, weight=weight, ignore_index=IGNORE)
            opt.zero_grad(); loss.backward(); opt.step(); poly.step()
            total += loss.item()
        cm = evaluate(model, val)
        miou = cm.miou()
        print(f"epoch {epoch} loss {total / len(train):.4f} mIoU {miou:.3f}")
        if miou > best:
            best = miou
            torch.save(model.state_dict(), ckpt)
    for name, iou, rec in zip(CLASSES, cm.iou().tolist(), cm.recall().tolist()):
        print(f"  {name:>7}  iou {'  n/a' if iou != iou else f'{iou:.3f}'}  recall {'  n/a' if rec != rec else f'{rec:.3f}'}")


if __name__ == "__main__":
    main()
