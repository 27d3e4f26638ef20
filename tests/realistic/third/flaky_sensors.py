"""Online learning from a bus with broken packets: a bad batch is dropped before the step."""
import torch
import torch.nn as nn


class Bus:
    """Every now and then a sensor reports a huge number, or nothing."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.count == 300:
            raise StopIteration
        x = torch.randn(16, 8, generator=self.g)
        y = x[:, :3].sum(1) + 0.1 * torch.randn(16, generator=self.g)
        if self.count % 37 == 20:
            x[3, 2] = float("nan")
        if self.count % 53 == 31:
            x[5, 1] = 3e38
        self.count += 1
        return x, y


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 24), nn.SiLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class Statistics:
    def __init__(self):
        self.smallest, self.largest = float("inf"), -float("inf")
        self.dropped = 0

    def add(self, loss):
        self.smallest = min(self.smallest, loss)
        self.largest = max(self.largest, loss)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Filter()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    stats = Statistics()
    for i, (x, y) in enumerate(Bus(seed=9)):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=False)
        if not torch.isfinite(norm):
            stats.dropped += 1
            opt.zero_grad()
            continue
        opt.step()
        stats.add(loss.item())
        if i % 50 == 0:
            print(f"{i:3d} loss {loss.item():.4f} norm {norm.item():.3f} dropped {stats.dropped}")
    print(f"loss between {stats.smallest:.4f} and {stats.largest:.4f}, {stats.dropped} dropped")


if __name__ == "__main__":
    main()
