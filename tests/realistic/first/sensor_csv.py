"""Predict room CO2 from environmental sensors stored in a CSV log."""
import csv
import os
import random
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)

COLUMNS = ["temperature", "humidity", "light", "occupancy", "co2"]
# from the sensor data sheets
OFFSET = np.array([21.0, 45.0, 300.0, 4.0, 600.0], dtype=np.float32)
SCALE = np.array([3.0, 10.0, 200.0, 3.0, 150.0], dtype=np.float32)


@dataclass
class Config:
    rows: int = 600
    batch_size: int = 32
    epochs: int = 5
    lr: float = 3e-3
    hidden: int = 32
    seed: int = 7


def record_log(path, rows, seed):
    rnd = random.Random(seed)
    with open(path, "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(COLUMNS)
        for i in range(rows):
            occ = rnd.randint(0, 9)
            temp = 19 + 0.4 * occ + rnd.gauss(0, 0.5)
            hum = 40 + 1.2 * occ + rnd.gauss(0, 3)
            light = max(0.0, rnd.gauss(300, 150))
            co2 = 420 + 45 * occ + rnd.gauss(0, 20)
            row = [f"{temp:.2f}", f"{hum:.1f}", f"{light:.0f}", occ, f"{co2:.0f}"]
            if i == 437:
                row[1] = "ERR"
            writer.writerow(row)


def load_log(path):
    table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=np.float32)
    table = (table - OFFSET) / SCALE
    features, target = table[:, :-1], table[:, -1:]
    return torch.from_numpy(features.copy()), torch.from_numpy(target.copy())


class Regressor(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x)


def fit(cfg):
    torch.manual_seed(cfg.seed)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "log.csv")
        record_log(path, cfg.rows, cfg.seed)
        x, y = load_log(path)
    n_train = int(0.8 * len(x))
    train = TensorDataset(x[:n_train], y[:n_train])
    x_val, y_val = x[n_train:], y[n_train:]
    loader = DataLoader(train, batch_size=cfg.batch_size, shuffle=True)

    model = Regressor(x.shape[1], cfg.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    best, best_state = float("inf"), None
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        sched.step()
        model.eval()
        with torch.no_grad():
            mae = (model(x_val) - y_val).abs().mean().item() * float(SCALE[-1])
        print(f"epoch {epoch} train {total / n_train:.4f} val MAE {mae:.1f} ppm lr {sched.get_last_lr()[0]:.1e}")
        if mae < best:
            best = mae
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
    if best_state is None:
        raise RuntimeError("no epoch produced a usable model")
    model.load_state_dict(best_state)
    return model, best


if __name__ == "__main__":
    _, best = fit(Config())
    print(f"best val MAE: {best:.1f} ppm")
