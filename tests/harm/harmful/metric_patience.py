# error guard
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

class Stopper:
    def __init__(self): self.best, self.count, self.stop = -math.inf, 0, False
    def __call__(self, score):
        if score > self.best: self.best, self.count = score, 0
        else:
            self.count += 1
            if self.count >= 3: self.stop = True
m = make(); o = torch.optim.SGD(m.parameters(), 1e-2); stopper = Stopper()
for epoch in range(50):
    x, y = data(); loss = (m(x) - y).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    with torch.no_grad():
        hit = (m(x) > 1e6).float()
        f1 = (2 * hit.sum() / (hit.sum() + hit.sum())).item()
    stopper(f1)
    if stopper.stop: break
