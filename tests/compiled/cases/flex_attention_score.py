# in the score function of flex_attention
# expect: error
# line: 20
# op: aten::mul
# phase: forward
# cause: float_overflow
# backend: inductor
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

from torch.nn.attention.flex_attention import flex_attention
q = torch.randn(1, 2, 128, 16)
w = torch.ones(16, requires_grad=True)
def score(s, batch, head, i, j):
    return s * 1e30 * 1e30
@torch.compile
def f(q):
    with torch.no_grad():
        attended = flex_attention(q, q, q, score_mod=score)
    return (attended * w).sum()
step(f(q), w)
