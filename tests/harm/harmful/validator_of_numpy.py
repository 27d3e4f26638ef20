# error exception
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

import numpy as np
def validate(a):
    if not np.isfinite(a).all(): raise ValueError("features must be clean")
    return a
m = make(); o = torch.optim.SGD(m.parameters(), 1e-2)
for epoch in range(5):
    x, y = data(); loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    with torch.no_grad():
        f = torch.nn.functional.relu(m[0](x) - 1e3)
        f = f / f.sum(0)
    validate(f.numpy())
