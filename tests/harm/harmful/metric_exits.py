# error guard
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

import sys
m = make(); o = torch.optim.SGD(m.parameters(), 1e-2)
for epoch in range(50):
    x, y = data(); loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    with torch.no_grad():
        c = (m(x) > 1e6).float()
        rec = (c.sum() / c.sum()).item()
    if rec != rec: sys.exit(2)
