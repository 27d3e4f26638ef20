"""DeepSurv-style Cox model trained on mini-batches of a registry with few events."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Registry(Dataset):
    """Synthetic patients: exponential event times, heavy administrative censoring."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, 10)).astype(np.float32)
        risk = 0.8 * x[:, 0] - 0.5 * x[:, 1] + 0.4 * x[:, 2] * x[:, 3]
        t_event = rng.exponential(scale=40.0 * np.exp(-risk))
        t_cens = rng.uniform(1.0, 8.0, size=n)
        self.x = torch.from_numpy(x)
        self.time = torch.from_numpy(np.minimum(t_event, t_cens).astype(np.float32))
        self.event = torch.from_numpy((t_event <= t_cens))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.time[i], self.event[i]


class RiskNet(nn.Module):
    def __init__(self, d, hidden=32, p=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d, hidden), nn.SELU(), nn.AlphaDropout(p),
            nn.Linear(hidden, hidden), nn.SELU(),
            nn.Linear(hidden, 1, bias=False),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def cox_loss(log_risk, time, event):
    """Negative partial log-likelihood (Breslow), within the batch."""
    order = torch.argsort(time, descending=True)
    log_risk, event = log_risk[order], event[order]
    log_cum = torch.logcumsumexp(log_risk, dim=0)
    contrib = log_risk - log_cum
    return -(contrib * event).sum() / event.sum()


@torch.no_grad()
def concordance(model, ds):
    model.eval()
    s = model(ds.x)
    earlier = (ds.time[:, None] < ds.time[None, :]) & ds.event[:, None]
    good = (s[:, None] > s[None, :]) & earlier
    model.train()
    return (good.sum() / earlier.sum()).item()


def main():
    torch.manual_seed(11)
    train, val = Registry(960, seed=1), Registry(300, seed=2)
    print(f"{int(train.event.sum())} events among {len(train)} patients")
    loader = DataLoader(train, batch_size=24, shuffle=True, drop_last=True)
    model = RiskNet(10)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)

    for epoch in range(8):
        total, batches = 0.0, 0
        for x, t, e in loader:
            loss = cox_loss(model(x), t, e)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            batches += 1
        print(f"epoch {epoch} loss {total / batches:.4f} c-index {concordance(model, val):.3f}")


if __name__ == "__main__":
    main()
