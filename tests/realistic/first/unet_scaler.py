"""Denoising autoencoder in float16 autocast with dynamic loss scaling."""
import argparse
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    def __init__(self, n, size=16, noise=0.3, seed=0):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(size) / size
        freq = torch.randint(1, 5, (n, 1, 1), generator=g)
        clean = (6.283 * freq * t.view(1, 1, -1)).sin().expand(n, size, size)
        flip = torch.rand(n, generator=g) < 0.5
        self.clean = torch.where(flip[:, None, None], clean, clean.transpose(1, 2)).unsqueeze(1).contiguous()
        self.noisy = self.clean + noise * torch.randn(self.clean.shape, generator=g)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.noisy[i], self.clean[i]


class Denoiser(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.inp = nn.Conv2d(1, ch, 3, padding=1)
        self.down = nn.Conv2d(ch, ch * 2, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(ch * 2, ch, 2, stride=2)
        self.out = nn.Conv2d(ch * 2, 1, 3, padding=1)

    def forward(self, x):
        a = F.silu(self.inp(x))
        b = F.silu(self.down(a))
        return self.out(torch.cat([a, F.silu(self.up(b))], dim=1))


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = Denoiser()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=args.init_scale, growth_interval=8)
        self.skipped = 0

    def train_step(self, noisy, clean):
        self.opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.float16):
            pred = self.model(noisy)
        loss = F.mse_loss(pred.float(), clean, reduction="sum") / len(clean)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.opt)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        before = self.scaler.get_scale()
        self.scaler.step(self.opt)
        self.scaler.update()
        skipped = self.scaler.get_scale() < before
        self.skipped += skipped
        return loss.item(), float("nan") if skipped else norm.item()

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        se = sum(F.mse_loss(self.model(x), y, reduction="sum").item() for x, y in loader)
        self.model.train()
        return se / sum(y.numel() for _, y in loader)


def nanmean(values):
    kept = [v for v in values if v == v]
    return sum(kept) / len(kept) if kept else float("nan")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--init-scale", type=float, default=2.0 ** 14)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train = DataLoader(Stripes(96), batch_size=8, shuffle=True)
    val = DataLoader(Stripes(24, seed=1), batch_size=24)
    trainer = Trainer(args)
    best, path = float("inf"), os.path.join(tempfile.mkdtemp(), "denoiser.pt")
    for epoch in range(args.epochs):
        losses, norms = zip(*(trainer.train_step(x, y) for x, y in train))
        mse = trainer.validate(val)
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f} |g| {nanmean(norms):.3f} "
              f"val {mse:.4f} scale {trainer.scaler.get_scale():.0f} skipped {trainer.skipped}")
        if mse < best:
            best = mse
            torch.save({"model": trainer.model.state_dict(), "scaler": trainer.scaler.state_dict()}, path)
    state = torch.load(path)
    trainer.model.load_state_dict(state["model"])
    assert trainer.validate(val) == best
    print(f"restored best model, val mse {best:.4f}")


if __name__ == "__main__":
    main()
