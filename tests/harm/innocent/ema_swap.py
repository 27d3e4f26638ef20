# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

m = make(); o = torch.optim.SGD(m.parameters(), 1e-2)
ema = {k: v.clone() for k, v in m.state_dict().items()}
for step in range(20):
    x, y = data()
    if step == 8: y[0] = float("nan")
    loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    if all(v.isfinite().all() for v in m.state_dict().values()):
        for k, v in m.state_dict().items(): ema[k].mul_(0.9).add_(v, alpha=0.1)
    else:
        m.load_state_dict(ema)
print(loss.item())
