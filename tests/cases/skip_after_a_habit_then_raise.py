# Single bad batches are skipped for a while, then every batch is bad and the program gives up with an exception
# expect: error
# phase: forward
# op: aten::log
# line: 34
# cause: log_of_zero
import torch
from torch import nn


class TooManyBadBatches(RuntimeError):
    pass


class CountModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def batches(steps, generator):
    for step in range(steps):
        x = torch.randn(16, 4, generator=generator)
        counts = torch.poisson(torch.full((16,), 6.0), generator=generator) + 1
        if step in (4, 9) or step >= 15:
            counts[3] = 0
        yield x, counts


def relative_loss(prediction, counts):
    return (prediction - counts.log()).square().mean()


def train(model, optimizer, loader, limit=5):
    bad = 0
    for x, counts in loader:
        loss = relative_loss(model(x), counts)
        if torch.isnan(loss) or torch.isinf(loss):
            bad += 1
            if bad >= limit:
                raise TooManyBadBatches(f"{bad} bad batches in a row")
            continue
        bad = 0
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    torch.manual_seed(0)
    model = CountModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    train(model, optimizer, batches(40, torch.Generator().manual_seed(7)))


if __name__ == "__main__":
    main()
