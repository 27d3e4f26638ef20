# inductor cuts the graph into parts
# expect: error
# line: 19
# op: aten::log
# phase: forward
# cause: log_of_zero
# backend: inductor
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.randn(8, 8, requires_grad=True)
@torch.compile(options={"graph_partition": True})
def f(x, w):
    return torch.log((x @ w).relu()).sum()
step(f(torch.randn(4, 8), w), w)
