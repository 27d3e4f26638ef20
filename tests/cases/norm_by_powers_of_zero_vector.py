# Norm spelled as pow(2).sum().pow(0.5) at the zero vector
# expect: error
# phase: backward
# op: aten::pow
# line: 11
# cause: norm_gradient_at_zero | pow_domain | sqrt_gradient_at_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
a = torch.zeros(3, requires_grad=True); b = torch.zeros(3, requires_grad=True)
a.norm().backward()
b.pow(2).sum().pow(0.5).backward()
out = dict(grad_norm=a.grad, grad_manual=b.grad)
