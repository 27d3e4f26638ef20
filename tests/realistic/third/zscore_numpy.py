"""Predicts the output of a wind farm from turbine telemetry."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

COLUMNS = ["wind", "direction", "temperature", "pitch", "curtailed", "yaw"]


def read_telemetry(hours=1200, seed=5):
    rng = np.random.default_rng(seed)
    table = np.empty((hours, len(COLUMNS)), dtype=np.float32)
    table[:, 0] = rng.weibull(2.0, hours) * 8
    table[:, 1] = rng.uniform(0, 360, hours)
    table[:, 2] = rng.normal(11, 6, hours)
    table[:, 3] = np.clip(table[:, 0] - 10, 0, None)
    table[:, 4] = 0.0               # no curtailment in this quarter
    table[:, 5] = table[:, 1] + rng.normal(0, 2, hours)
    power = np.clip(table[:, 0], 0, 12) ** 3 / 1728 + rng.normal(0, 0.02, hours)
    return table, power.astype(np.float32)


def standardise(table):
    mean = table.mean(axis=0)
    std = table.std(axis=0)
    return (table - mean) / std, mean, std


class PowerCurve(nn.Module):
    def __init__(self, features, width=32):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Linear(features, width),
            nn.LayerNorm(width),
            nn.GELU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.stack(x).squeeze(-1)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    table, power = read_telemetry()
    features, mean, std = standardise(table)
    data = TensorDataset(torch.from_numpy(features), torch.from_numpy(power))
    train, held_out = random_split(data, [1000, 200])
    model = PowerCurve(len(COLUMNS))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for x, y in DataLoader(train, batch_size=50, shuffle=True):
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            errors = [nn.functional.l1_loss(model(x), y).item() for x, y in DataLoader(held_out, 50)]
        print(f"epoch {epoch} mae {sum(errors) / len(errors):.4f}")


if __name__ == "__main__":
    main()
