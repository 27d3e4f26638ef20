"""PM2.5 regression from station CSV files with missing values (NA and -999)."""
import csv
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FIELDS = ["station", "wind", "temp", "no2", "o3", "pm25"]


def write_station_file(path, station, hours, rng):
    """One file per station, as the archive delivers them."""
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(FIELDS)
        for _ in range(hours):
            wind, temp = rng.gamma(2, 1.5), rng.normal(12, 6)
            no2 = max(1.0, 40 - 5 * wind + rng.normal(0, 5))
            o3 = 30 + temp + rng.normal(0, 4)
            pm = max(1.0, 8 + 0.5 * no2 - 0.8 * wind + rng.normal(0, 2))
            row = [wind, temp, no2, o3, pm]
            cells = []
            for j, v in enumerate(row):
                u = rng.random()
                cells.append("NA" if u < 0.05 else "-999" if u < 0.08 else f"{v:.2f}")
            if station == 2:
                cells[-1] = "NA"      # no particle monitor there
            w.writerow([station] + cells)


def read_folder(folder):
    parts = []
    for name in sorted(os.listdir(folder)):
        t = np.genfromtxt(os.path.join(folder, name), delimiter=",", skip_header=1)
        t[t == -999.0] = np.nan
        parts.append(t)
    return np.concatenate(parts)


class Imputer:
    """Standardise with nan-aware statistics, fill the gaps with 0 and add indicators."""

    def fit(self, x):
        self.mean, self.std = np.nanmean(x, axis=0), np.nanstd(x, axis=0)
        return self

    def __call__(self, x):
        z = (x - self.mean) / self.std
        gap = np.isnan(z)
        return np.concatenate([np.where(gap, 0.0, z), gap.astype(float)], axis=1).astype(np.float32)


def masked_huber(pred, target, delta=4.0):
    """Mean over the rows which have a measurement."""
    have = ~torch.isnan(target)
    clean = torch.where(have, target, torch.zeros_like(target))
    per_row = nn.functional.huber_loss(pred, clean, reduction="none", delta=delta)
    return (per_row * have).sum() / have.sum().clamp(min=1)


@torch.no_grad()
def mae_per_station(model, x, y, station):
    err = (model(x).squeeze(1) - y).abs()
    out = {}
    for s in station.unique().tolist():
        e = err[station == s]
        out[int(s)] = e[~torch.isnan(e)].mean().item()     # nan: nothing measured there
    return out


def main():
    torch.manual_seed(12)
    rng = np.random.default_rng(12)
    with tempfile.TemporaryDirectory() as d:
        for s in range(4):
            write_station_file(os.path.join(d, f"station_{s}.csv"), s, 350, rng)
        table = read_folder(d)
    order = rng.permutation(len(table))
    table = table[order]
    cut = 1000
    imp = Imputer().fit(table[:cut, 1:5])
    x = torch.from_numpy(imp(table[:, 1:5]))
    y = torch.from_numpy(table[:, 5].astype(np.float32))
    station = torch.from_numpy(table[:, 0])
    print(f"{int(torch.isnan(y).sum())} of {len(y)} targets are missing")

    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    loader = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=40, shuffle=True)
    for epoch in range(8):
        total = 0.0
        for xb, yb in loader:
            loss = masked_huber(model(xb).squeeze(1), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        per = mae_per_station(model, x[cut:], y[cut:], station[cut:])
        mean = np.nanmean(list(per.values()))
        print(f"epoch {epoch} loss {total / len(loader):.4f} MAE {mean:.3f} per station {per}")


if __name__ == "__main__":
    main()
