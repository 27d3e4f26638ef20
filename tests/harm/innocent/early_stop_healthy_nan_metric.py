# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

m = make(); o = torch.optim.SGD(m.parameters(), 1e-2); best, bad = math.inf, 0
for epoch in range(200):
    x, y = data(); loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    with torch.no_grad():
        hits = (m(x) > 1e9).float(); precision = (hits.sum() * 0 / hits.sum()).item()
    print(epoch, loss.item(), precision)
    if loss.item() < best - 1e-2: best, bad = loss.item(), 0
    else: bad += 1
    if bad >= 5: break
