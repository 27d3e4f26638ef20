# Generalised mean pooling x.pow(p).mean().pow(1/p) on a dead channel
# expect: error
# phase: backward
# op: aten::pow
# line: 12
# cause: pow_domain
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.rand(1, 2, 4)
x[0, 1] = 0.0                                          # dead channel
x.requires_grad_()
g = x.pow(3).mean(-1).pow(1.0 / 3)
g.sum().backward()
summary = dict(g=g, grad_dead=x.grad[0, 1])
