# LayerNorm of a zero row with eps=1e-12 in fp16
# expect: error
# phase: forward
# op: aten::pow
# line: 12
# cause: eps_underflow | division_by_zero | pow_domain
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.zeros(1, 4).half()
mean = x.mean(-1, keepdim=True)
var = (x - mean).pow(2).mean(-1, keepdim=True)
inv = (var + 1e-12).pow(-0.5)
y = (x - mean) * inv
summary = dict(inv=inv, y=y)
