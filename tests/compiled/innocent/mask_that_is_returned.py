# a region returns scores with -inf
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.randn(8, 8, requires_grad=True)
@torch.compile
def f(x):
    return (x @ w).masked_fill(torch.ones(8, 8).triu(1).bool(), float("-inf"))
step(f(torch.randn(8, 8)).softmax(-1).square().sum(), w)
