# Gumbel noise -log(-log(u)) with u rounded to 0 or 1
# expect: error
# phase: forward
# op: aten::log
# line: 12
# cause: log_of_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
logits = torch.randn(2, 3, requires_grad=True)
u = torch.rand(2, 3)
u[0, 1] = 1.0                             # the rare draw
g = -torch.log(-torch.log(u))
y = F.softmax((logits + g) / 1.0, dim=-1)
loss = y[:, 0].sum()
loss.backward()
out = dict(g=g, y=y, grad=logits.grad)
