import argparse
import os
import tempfile

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

NUM_CLASSES = 4  # 0 = background


class SliceDataset(Dataset):
    """Axial slices of a few synthetic volumes, in scan order."""

    def __init__(self, volumes=3, depth=24, size=24, seed=0):
        rng = np.random.default_rng(seed)
        xs, ys = [], []
        yy, xx = np.mgrid[:size, :size]
        for _ in range(volumes):
            top = depth - rng.integers(9, 12)
            centers = rng.uniform(6, size - 6, size=(NUM_CLASSES - 1, 2))
            for z in range(depth):
                mask = np.zeros((size, size), dtype=np.int64)
                if z < top:
                    for c, (cy, cx) in enumerate(centers, start=1):
                        r = 2 + 3 * np.sin(np.pi * (z + 1) / (top + 1))
                        mask[(yy - cy) ** 2 + (xx - cx) ** 2 < r * r] = c
                img = mask * 0.3 + rng.normal(0, 0.15, size=mask.shape)
                xs.append(img.astype(np.float32)[None])
                ys.append(mask)
        self.x = torch.from_numpy(np.stack(xs))
        self.y = torch.from_numpy(np.stack(ys))

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


class TinyUNet(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU(inplace=True))
        self.enc1, self.enc2 = block(1, ch), block(ch, ch * 2)
        self.mid = block(ch * 2, ch * 2)
        self.dec1 = block(ch * 3, ch)
        self.out = nn.Conv2d(ch, NUM_CLASSES, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.mid(self.enc2(F.max_pool2d(a, 2)))
        up = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.out(self.dec1(torch.cat([a, up], dim=1)))


class DiceCELoss(nn.Module):
    def __init__(self, dice_weight=0.5, smooth=1.0):
        super().__init__()
        self.dice_weight = dice_weight
        self.smooth = smooth

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target)
        probs = logits.softmax(dim=1)
        onehot = F.one_hot(target, NUM_CLASSES).permute(0, 3, 1, 2).float()
        inter = (probs * onehot).sum(dim=(0, 2, 3))
        total = (probs + onehot).sum(dim=(0, 2, 3))
        dice = (2 * inter + self.smooth) / (total + self.smooth)
        present = onehot.sum(dim=(0, 2, 3)) > 0
        present[0] = False
        dice_loss = (1 - dice)[present].mean()
        return (1 - self.dice_weight) * ce + self.dice_weight * dice_loss


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    losses, correct, seen = [], 0, 0
    for x, y in loader:
        with torch.set_grad_enabled(optimizer is not None):
            logits = model(x)
            loss = criterion(logits, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        losses.append(loss.item())
        correct += (logits.argmax(1) == y).sum().item()
        seen += y.numel()
    return sum(losses) / len(losses), correct / seen


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--bs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args(argv)

    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(SliceDataset(), batch_size=args.bs, shuffle=False)
    model, criterion = TinyUNet(), DiceCELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    ckpt = os.path.join(tempfile.mkdtemp(), "unet.pt")
    best = float("inf")
    for epoch in range(1, args.epochs + 1):
        loss, acc = run_epoch(model, loader, criterion, optimizer)
        print(f"[{epoch}/{args.epochs}] loss={loss:.4f} pixel-acc={acc:.3f}")
        if loss < best:
            best = loss
            torch.save({"model": model.state_dict(), "epoch": epoch}, ckpt)
    state = torch.load(ckpt)
    model.load_state_dict(state["model"])
    print(f"best epoch {state['epoch']} loss {best:.4f}")


if __name__ == "__main__":
    main()
