# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

import io
m = make(); o = torch.optim.Adam(m.parameters(), 1e-2)
def save():
    b = io.BytesIO(); torch.save({"m": m.state_dict(), "o": o.state_dict()}, b); return b.getvalue()
ck = save()
for step in range(20):
    x, y = data()
    if step == 9: y = y * float("nan")
    loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    if math.isnan(loss.item()):
        s = torch.load(io.BytesIO(ck)); m.load_state_dict(s["m"]); o.load_state_dict(s["o"])
    elif step % 3 == 0: ck = save()
print(loss.item())
