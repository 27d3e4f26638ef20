"""Calibrate a gas sensor against a reference station from the logger's CSV export."""
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

COLUMNS = ["hour", "raw_mv", "temp_c", "rh_pct", "fan_rpm", "reference_ppb"]


def export_log(path, hours=1500, seed=9):
    """Stand-in for the logger: writes the same file as the field unit does."""
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    temp = 12 + 8 * np.sin(2 * np.pi * t / 24) + rng.normal(0, 1, hours)
    rh = np.clip(60 - 1.5 * (temp - 12) + rng.normal(0, 5, hours), 5, 99)
    ppb = np.clip(30 + 12 * np.sin(2 * np.pi * (t - 6) / 24) + rng.normal(0, 4, hours), 1, None)
    raw = 5.2 * ppb + 1.9 * temp - 0.6 * rh + rng.normal(0, 3, hours)
    rpm = 1200 + rng.normal(0, 20, hours)
    with open(path, "w") as f:
        f.write(",".join(COLUMNS) + "\n")
        for i in range(hours):
            fan = f"{rpm[i]:.0f}" if not (i > 800 and rng.random() < 0.02) else "ERR"
            f.write(f"{t[i]},{raw[i]:.2f},{temp[i]:.1f},{rh[i]:.1f},{fan},{ppb[i]:.2f}\n")


class LoggerData(Dataset):
    def __init__(self, path, rows, stats=None):
        table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=np.float32)
        part = table[rows]
        x, y = part[:, 1:5], part[:, 5]
        if stats is None:
            # scaling is fixed from the calibration weeks in the laboratory
            lab = table[:500, 1:5]
            stats = lab.mean(0), lab.std(0)
        self.stats = stats
        self.x = torch.from_numpy((x - stats[0]) / stats[1])
        self.y = torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def build(width=32):
    return nn.Sequential(
        nn.Linear(4, width), nn.SiLU(),
        nn.Linear(width, width), nn.SiLU(),
        nn.Linear(width, 1), nn.Flatten(0),
    )


def main():
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "logger_0042.csv")
        export_log(path)
        train = LoggerData(path, slice(0, 1200))
        val = LoggerData(path, slice(500, 800), train.stats)
    loader = DataLoader(train, batch_size=16, shuffle=True)
    model = build()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.HuberLoss(delta=5.0)

    for epoch in range(5):
        model.train()
        seen, total = 0, 0.0
        for x, y in loader:
            loss = loss_fn(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            seen += len(y)
        model.eval()
        with torch.no_grad():
            mae = (model(val.x) - val.y).abs().mean().item()
        print(f"epoch {epoch}: train {total / seen:.3f}  val MAE {mae:.2f} ppb")


if __name__ == "__main__":
    main()
