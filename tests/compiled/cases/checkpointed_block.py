# in a block that is checkpointed inside the region
# expect: error
# line: 18
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

from torch.utils.checkpoint import checkpoint
w = torch.randn(10, requires_grad=True)
def block(x):
    return (x.square() - 5).log()
@torch.compile
def f(x):
    return checkpoint(block, x.sin() * w, use_reentrant=False).sum()
step(f(torch.randn(10)), w)
