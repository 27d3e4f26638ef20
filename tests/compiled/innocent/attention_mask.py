# -inf in a mask, inside a region
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

q = torch.randn(16, 16, requires_grad=True)
@torch.compile
def f(q, mask):
    return (q @ q.t()).masked_fill(mask, float("-inf")).softmax(-1).square().sum()
step(f(q, torch.ones(16, 16).triu(1).bool()), q)
