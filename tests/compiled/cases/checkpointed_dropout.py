# a checkpointed block that drops, computed twice by the compiled code
# expect: error
# line: 18
# op: aten::sqrt
# phase: forward
# cause: sqrt_of_negative
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

from torch.utils.checkpoint import checkpoint
w = torch.randn(100, requires_grad=True)
def block(x):
    return (F.dropout(x, 0.5).square() + 1e-30).log().sqrt()
@torch.compile
def f(x):
    return checkpoint(block, x.sin() * w, use_reentrant=False).sum()
step(f(torch.randn(100)), w)
