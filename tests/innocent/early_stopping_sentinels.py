# Early stopping with inf sentinels: a float, a tensor, a buffer, and a minimum over them
# expect: silence
import math

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.waited = 0

    def __call__(self, value):
        if value < self.best - 1e-4:
            self.best, self.waited = value, 0
        else:
            self.waited += 1
        return self.waited >= self.patience


class Tracked(nn.Module):
    """Remembers the best loss of every output in a buffer, saved with the weights."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
        self.register_buffer("best", torch.full((3,), math.inf))
        self.register_buffer("worst", torch.full((3,), -math.inf))

    def forward(self, x):
        return self.net(x)

    @torch.no_grad()
    def track(self, losses):
        torch.minimum(self.best, losses, out=self.best)
        self.worst.copy_(torch.maximum(self.worst, losses))


def main():
    torch.manual_seed(0)
    x = torch.randn(80, 6)
    y = torch.stack([x[:, 0], x[:, 1] ** 2, x.sum(1)], dim=1)
    model = Tracked()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    stopping = EarlyStopping(patience=3)
    best_state, lowest = None, torch.tensor(math.inf)
    for epoch in range(40):
        loss = (model(x[:60]) - y[:60]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            per_output = (model(x[60:]) - y[60:]).square().mean(0)
        model.track(per_output)
        if per_output.mean() < lowest:
            lowest = per_output.mean()
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        if stopping(per_output.mean().item()):
            break
    model.load_state_dict(best_state)
    print(f"stopped after {epoch + 1} epochs, best {stopping.best:.4f}, buffer {model.best.tolist()}")


if __name__ == "__main__":
    main()
