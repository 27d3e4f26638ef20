# the score function gives NaN, and the fused attention leaves such scores out
# expect: silence
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
    return torch.log(s)
@torch.compile
def f(q):
    with torch.no_grad():
        attended = flex_attention(q, q, q, score_mod=score)
    return (attended * w).sum()
step(f(q), w)
