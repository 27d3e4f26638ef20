# error loss|gradient|parameter
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def train(m, o, n):
    for _ in range(n):
        x, y = data(); loss = (m(x) - y).pow(2).mean()
        o.zero_grad(); loss.backward(); o.step()
    return loss.item()

for lr in (1e5, 1e6):
    m = make(); last = train(m, torch.optim.SGD(m.parameters(), lr), 40)
    if not math.isfinite(last): print("diverged", lr)
