# Learnable exponent with base 0
# expect: error
# phase: backward
# op: aten::log | aten::pow
# line: 10
# cause: pow_domain | log_of_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
a = torch.tensor([0.0, 2.0]); b = torch.ones(2, requires_grad=True)
g1, = torch.autograd.grad((a ** b).sum(), b, create_graph=True)
g2, = torch.autograd.grad(g1.sum(), b)
out = dict(first=g1, second=g2)
