# innocent
import copy, math, torch
from torch import nn
torch.manual_seed(0); torch.set_num_threads(1)
def data(n=16):
    x = torch.randn(n, 4)
    return x, x.sum(1, keepdim=True)
def make(): return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))

def find_lr(m, o):
    start = copy.deepcopy(m.state_dict()), copy.deepcopy(o.state_dict()); lr, best = 1e-5, math.inf
    for i in range(120):
        for g in o.param_groups: g["lr"] = lr
        x, y = data(); loss = (m(x) - y).pow(2).mean()
        o.zero_grad(); loss.backward(); o.step()
        best = min(best, loss.item())
        if math.isnan(loss.item()) or math.isinf(loss.item()): break
        lr *= 2
    m.load_state_dict(start[0]); o.load_state_dict(start[1])
    return 1e-2
m = make(); o = torch.optim.SGD(m.parameters(), 1e-2, momentum=0.9)
lr = find_lr(m, o)
for g in o.param_groups: g["lr"] = lr

def train(m, o, n):
    for _ in range(n):
        x, y = data(); loss = (m(x) - y).pow(2).mean()
        o.zero_grad(); loss.backward(); o.step()
    return loss.item()

print(train(m, o, 10))
