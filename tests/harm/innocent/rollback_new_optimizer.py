# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

m = make(); o = torch.optim.Adam(m.parameters(), 1e-2); saved = copy.deepcopy(m.state_dict())
for step in range(20):
    x, y = data()
    if step == 9: y = y / 0
    loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    if not math.isfinite(loss.item()):
        m.load_state_dict(saved); o = torch.optim.Adam(m.parameters(), 1e-3)
print(loss.item())
