# with sizes that are not known when it is compiled
# expect: error
# line: 18
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.randn(4, 4, requires_grad=True)
@torch.compile(dynamic=True)
def f(x):
    h = torch.log((x @ w).relu() if x.shape[0] > 3 else (x @ w).exp())
    return (h.sum(1) + x.shape[0]).sum()
for n in (3, 5):
    step(f(torch.randn(n, 4)), w)
