# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

m = make(); o = torch.optim.SGD(m.parameters(), 1e-2, momentum=0.9); last = copy.deepcopy(m), copy.deepcopy(o.state_dict())
for step in range(20):
    x, y = data()
    if step == 11: x = x * 1e30
    loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    if not torch.isfinite(loss):
        m = copy.deepcopy(last[0]); o = torch.optim.SGD(m.parameters(), 1e-2, momentum=0.9); o.load_state_dict(last[1])
    else: last = copy.deepcopy(m), copy.deepcopy(o.state_dict())
print(loss.item())
