# NumPy's sqrt(-1) handed over by from_numpy, into a training loop
# expect: error
# phase: data
# op: numpy::sqrt
# line: 17
# cause: sqrt_of_negative
import numpy as np
import torch
from torch import nn


def features(rows):
    rng = np.random.default_rng(0)
    table = rng.random((rows, 3))
    table[17, 1] = -1.0
    with np.errstate(invalid="ignore"):
        return np.sqrt(table).astype(np.float32)


def main():
    torch.manual_seed(0)
    x = torch.from_numpy(features(24))
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows in torch.arange(24).split(6):
        batch = x[rows]
        loss = model(batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


main()
