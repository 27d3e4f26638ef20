# GCN normalisation: deg^-0.5 is Inf for isolated nodes and is replaced by 0
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
row = torch.tensor([0, 1]); col = torch.tensor([1, 0]); n = 3      # node 2 is isolated
deg = torch.zeros(n).scatter_add(0, row, torch.ones(2))
dinv = deg.pow(-0.5)
dinv = dinv.masked_fill(dinv == float('inf'), 0.0)
norm = dinv[row] * dinv[col]
x = torch.randn(n, 2, requires_grad=True)
h = torch.zeros(n, 2).index_add(0, row, norm[:, None] * x[col])
h.pow(2).sum().backward()
values = dict(dinv=dinv, h=h, grad=x.grad)
