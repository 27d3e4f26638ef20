import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class PatchDataset(Dataset):
    """Smooth random textures; input is the 2x downsampled patch."""

    def __init__(self, n=192, size=16, seed=0):
        rng = np.random.RandomState(seed)
        yy, xx = np.mgrid[:size, :size] / size
        hr = []
        for _ in range(n):
            fx, fy, ph = rng.uniform(0.5, 3, 2).tolist() + [rng.uniform(0, 6.28)]
            img = 0.5 + 0.4 * np.sin(6.28 * (fx * xx + fy * yy) + ph)
            hr.append(img.astype("float32"))
        self.hr = torch.tensor(np.stack(hr)).unsqueeze(1)
        self.lr = F.avg_pool2d(self.hr, 2)

    def __len__(self):
        return len(self.hr)

    def __getitem__(self, i):
        return self.lr[i], self.hr[i]


class ESPCN(nn.Module):
    def __init__(self, scale=2, ch=12):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, ch, 5, padding=2), nn.LeakyReLU(0.1, True),
            nn.Conv2d(ch, ch, 3, padding=1), nn.LeakyReLU(0.1, True),
        )
        self.tail = nn.Conv2d(ch, scale * scale, 3, padding=1)
        self.shuffle = nn.PixelShuffle(scale)

    def forward(self, x):
        return self.shuffle(self.tail(self.body(x)))


def psnr(mse):
    return -10 * torch.log10(mse)


def validate(net, loader):
    net.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for lr_img, hr_img in loader:
            se += (net(lr_img).clamp(0, 1) - hr_img).pow(2).sum()
            n += hr_img.numel()
    net.train()
    return psnr(se / n).item()


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch_size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--warmup", type=int, default=100, help="warmup iterations")
    ap.add_argument("--momentum", type=float, default=0.9)
    ap.add_argument("--seed", type=int, default=123)
    opt = ap.parse_args()

    set_seed(opt.seed)
    torch.set_num_threads(1)
    train_loader = DataLoader(PatchDataset(seed=0), batch_size=opt.batch_size, shuffle=True)
    val_loader = DataLoader(PatchDataset(n=32, seed=1), batch_size=32)
    net = ESPCN()
    criterion = nn.MSELoss(reduction="sum")
    optimizer = torch.optim.SGD(net.parameters(), lr=opt.lr, momentum=opt.momentum)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda it: min(1.0, (it + 1) / opt.warmup))

    print(f"params: {sum(p.numel() for p in net.parameters())}")
    for epoch in range(opt.epochs):
        epoch_loss = 0
        for lr_img, hr_img in train_loader:
            optimizer.zero_grad()
            loss = criterion(net(lr_img), hr_img)
            loss.backward()
            optimizer.step()
            scheduler.step()
            epoch_loss += loss.item() / len(lr_img)
        print("===> Epoch {} avg loss {:.4f} PSNR {:.2f} dB".format(
            epoch, epoch_loss / len(train_loader), validate(net, val_loader)))
