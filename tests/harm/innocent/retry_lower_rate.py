# innocent
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

def fit(lr):
    torch.manual_seed(1); m = make(); o = torch.optim.SGD(m.parameters(), lr)
    for epoch in range(4):
        last = train(m, o, 20)
        if not math.isfinite(last): raise FloatingPointError(f"diverged at lr {lr}")
    return m, last
lr = 1e4
while True:
    try: m, last = fit(lr); break
    except FloatingPointError as e: print(e); lr /= 10
print(last)
