# flex_attention with a causal mask, one row without any
# expect: silence
# backend: inductor
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

from torch.nn.attention.flex_attention import create_block_mask, flex_attention
allowed = create_block_mask(lambda b, h, i, j: (i >= j) & (i != 5), None, None, 128, 128, device="cpu")
q = torch.randn(1, 2, 128, 16)
w = torch.ones(16, requires_grad=True)
@torch.compile
def f(q):
    with torch.no_grad():
        attended = flex_attention(q, q, q, block_mask=allowed)
    return (attended * w).sum()
step(f(q), w)
