# between two graph breaks
# expect: error
# line: 20
# op: aten::log
# phase: forward
# cause: log_of_negative
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
    h = x @ w
    torch._dynamo.graph_break()
    z = torch.log(h)
    torch._dynamo.graph_break()
    return (z + h).sum()
step(f(torch.randn(3, 4)), w)
