# Variance as E[x^2] - E[x]^2 goes negative by cancellation
# expect: error
# phase: forward
# op: aten::sqrt
# line: 13
# cause: cancellation
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.full((1, 64), 5000.3)
x[0, ::2] += 0.001
x.requires_grad_()
var = (x * x).mean() - x.mean() ** 2
y = (x - x.mean()) / torch.sqrt(var)
loss = y.pow(2).sum()
loss.backward()
summary = dict(var=var, loss=loss, grad_nan=x.grad.isnan().sum())
