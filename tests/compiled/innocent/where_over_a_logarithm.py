# a logarithm of zero that is not taken
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.randn(4, 4, requires_grad=True)
@torch.compile
def f(x):
    h = (x @ w).relu()
    m = torch.where(h > 0, torch.log(h), torch.zeros_like(h))
    return m.detach().sum() + h.square().mean()
step(f(torch.randn(3, 4)), w)
