# Nero optimizer: grad / sqrt(exp_avg_sq) without eps
# expect: error
# phase: forward | optimizer
# op: aten::div
# line: 11
# cause: optimizer_division_by_zero | division_by_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
p = nn.Parameter(torch.randn(2, 3)); p.grad = torch.zeros(2, 3); p.grad[0] = 1.0
sq = 0.001 * (p.grad ** 2).mean(1, keepdim=True)
gn = p.grad / sq.sqrt()
with torch.no_grad():
    p -= 0.01 * gn
    p /= p.norm(dim=1, keepdim=True)
out = dict(gn=gn[1], p=p)
