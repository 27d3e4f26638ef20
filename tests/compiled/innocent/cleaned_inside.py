# an infinity that nan_to_num removes in the region
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(4, requires_grad=True)
@torch.compile
def f(x):
    return (torch.nan_to_num(1 / x, posinf=0.0) * w).sum()
step(f(torch.tensor([0.0, 1.0, 2.0, 4.0])), w)
