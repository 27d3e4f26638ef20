# F.normalize-style eps 1e-12 is zero in fp16: zero vector becomes NaN
# expect: error
# phase: forward
# op: aten::div
# line: 11
# cause: eps_underflow | division_by_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def normalize(x, eps=1e-12):
    n = x.float().norm(dim=-1, keepdim=True).to(x.dtype)
    return x / torch.maximum(n, torch.tensor(eps, dtype=x.dtype))
v32 = normalize(torch.zeros(1, 3))
v16 = normalize(torch.zeros(1, 3).half())
out = dict(v32=v32, v16=v16)
