# LayerNorm applied to log2 of zeros
# expect: error
# phase: forward
# op: aten::log2
# line: 10
# cause: log_of_zero | inf_minus_inf
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
v = torch.zeros(2, 3, requires_grad=True)
l = torch.log2(v)
y = F.layer_norm(l, (3,))
y.sum().backward()
out = dict(l=l, y=y, grad=v.grad)
