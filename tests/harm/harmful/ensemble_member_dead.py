# error loss|gradient|parameter
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

members = [make() for _ in range(3)]
for i, m in enumerate(members):
    o = torch.optim.SGD(m.parameters(), 1e-2 if i != 1 else 1e6)
    for _ in range(30):
        x, y = data(); loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    print(i, loss.item())
