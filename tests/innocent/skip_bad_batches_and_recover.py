# Now and then a batch gives an infinite loss, is skipped, and training goes on
# expect: silence
import torch
import torch.nn.functional as F
from torch import nn


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
        if step in (4, 5, 11, 18):
            counts[3] = 0  # an empty record
        yield x, counts


def relative_loss(prediction, counts):
    return ((prediction - counts.log()) ** 2).mean()


def main():
    torch.manual_seed(0)
    model = CountModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    skipped = []
    for step, (x, counts) in enumerate(batches(30, torch.Generator().manual_seed(7))):
        loss = relative_loss(model(x), counts)
        if not torch.isfinite(loss):
            skipped.append(step)
            continue
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"loss {loss.item():.4f}, skipped {skipped}")


if __name__ == "__main__":
    main()
