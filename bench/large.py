"""A model of 100 million parameters whose fourth step takes the logarithm of zero.

Writes to the file named by its argument when the failing step began and how long a healthy one
took, for costs.py.
"""

import json
import sys
import time

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(*[nn.Linear(4096, 4096) for _ in range(6)])
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
x = torch.randn(2, 4096)
took = 0.0
for step in range(4):
    began = time.monotonic()
    if step == 3:
        with open(sys.argv[1], "w") as file:
            json.dump({"began": began, "healthy_s": took}, file)
    y = model(x).square()
    loss = (y * (step != 3)).log().mean() if step == 3 else y.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    took = time.monotonic() - began
