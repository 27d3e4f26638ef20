# NumPy's overflow handed over by torch.tensor as a target: loss and gradient are Inf, never NaN
# expect: error
# phase: data
# op: numpy::expm1
# line: 18
# cause: exp_overflow
import numpy as np
import torch
from torch import nn


def load(rows=12):
    """Sales were stored as log(1 + n); one row holds the plain number."""
    logged = np.linspace(0.1, 3.0, rows, dtype=np.float32)
    logged[9] = 240.0
    hours = np.linspace(1.0, 2.0, rows, dtype=np.float32)
    with np.errstate(over="ignore"):
        return torch.tensor(hours), torch.tensor(np.expm1(logged))


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        return self.slope * x


def main():
    hours, sales = load()
    model = Line()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in zip(hours.split(3), sales.split(3)):
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f} slope {model.slope.item():.3f}")


if __name__ == "__main__":
    main()
