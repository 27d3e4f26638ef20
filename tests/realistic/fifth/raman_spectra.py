"""Concentration from Raman spectra: log intensities, 1-D convolutions, DataLoader."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def measure(n, channels=128, seed=23):
    """Two Gaussian peaks on a baseline; intensities are in counts / 1000."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(0, 1, channels)
    conc = rng.uniform(0.05, 1.0, size=(n, 2))
    base = 0.3 + 0.4 * rng.random((n, 1)) * (1 + axis)
    p1 = conc[:, :1] * 2.5 * np.exp(-((axis - 0.3) / 0.03) ** 2)
    p2 = conc[:, 1:] * 1.8 * np.exp(-((axis - 0.62) / 0.05) ** 2)
    spec = (base + p1 + p2) * rng.lognormal(0, 0.03, size=(n, channels))
    return spec.astype(np.float32), conc.astype(np.float32)


class Spectra(Dataset):
    """Returns (log spectrum, concentrations), optionally shifted by some channels."""

    def __init__(self, spec, conc, max_shift=2):
        self.spec, self.conc = spec, conc
        self.max_shift = max_shift

    def __len__(self):
        return len(self.spec)

    def __getitem__(self, i):
        x = torch.from_numpy(self.spec[i])
        x.log_()
        if self.max_shift:
            s = int(torch.randint(-self.max_shift, self.max_shift + 1, ()))
            x = torch.roll(x, s)
        return x.unsqueeze(0), torch.from_numpy(self.conc[i])


class ConvRegressor(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, ch, 7, padding=3), nn.GELU(), nn.AvgPool1d(2),
            nn.Conv1d(ch, ch, 5, padding=2), nn.GELU(), nn.AvgPool1d(4),
            nn.Flatten(), nn.Linear(ch * 16, 2),
        )

    def forward(self, x):
        return self.net(x)


def run_epoch(model, loader, opt=None):
    total, count = 0.0, 0
    for x, y in loader:
        with torch.set_grad_enabled(opt is not None):
            loss = nn.functional.mse_loss(model(x), y)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            opt.step()
        total += loss.item() * len(y)
        count += len(y)
    return total / count


def main():
    torch.manual_seed(23)
    spec, conc = measure(600)
    full = Spectra(spec, conc)
    train, val = random_split(full, [500, 100], generator=torch.Generator().manual_seed(1))
    train_loader = DataLoader(train, batch_size=25, shuffle=True)
    val_loader = DataLoader(val, batch_size=50)
    model = ConvRegressor()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)

    for epoch in range(5):
        tr = run_epoch(model, train_loader, opt)
        va = run_epoch(model, val_loader)
        sched.step(va)
        print(f"epoch {epoch} train {tr:.5f} val {va:.5f} lr {opt.param_groups[0]['lr']:.1e}")


if __name__ == "__main__":
    main()
