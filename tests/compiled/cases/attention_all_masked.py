# attention with a mask that leaves nothing
# expect: error
# line: 20
# op: aten::_softmax
# phase: forward
# cause: all_masked_softmax
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

q = torch.randn(2, 4, 32, 16, requires_grad=True)
mask = torch.full((32, 32), float("-inf"))
@torch.compile
def f(q):
    scores = q @ q.transpose(-1, -2) + mask
    return (scores.softmax(-1) @ q).sum()
step(f(q), q)
