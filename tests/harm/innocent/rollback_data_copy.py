# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

m = make(); o = torch.optim.SGD(m.parameters(), 1e-2)
good = [p.detach().clone() for p in m.parameters()]
for step in range(20):
    x, y = data()
    if step == 7: x[0, 0] = float("inf")
    loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    if any(not torch.isfinite(p).all() for p in m.parameters()):
        for p, g in zip(m.parameters(), good): p.data.copy_(g)
    else:
        good = [p.detach().clone() for p in m.parameters()]
print(loss.item())
