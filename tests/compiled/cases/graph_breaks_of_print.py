# breaks at a print and by hand; zero times the logarithm
# expect: error
# line: 19
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

@torch.compile
def f(x, w):
    h = x @ w
    print("break")
    z = torch.log(h - h)
    torch._dynamo.graph_break()
    return (z * 0 + h).sum()
w = torch.randn(4, 4, requires_grad=True)
step(f(torch.randn(3, 4), w), w)
