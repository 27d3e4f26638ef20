# GraphSAGE mean aggregation with an isolated node
# expect: error
# phase: forward
# op: aten::div
# line: 13
# cause: division_by_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(4, 3)
adj = torch.tensor([[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=torch.float)
W = torch.randn(3, 2, requires_grad=True)
degree = adj.sum(1, keepdim=True)
h = (adj @ x) / degree
loss = (h @ W).pow(2).mean()
loss.backward()
out = dict(last_row=h[3], loss=loss, grad=W.grad)
