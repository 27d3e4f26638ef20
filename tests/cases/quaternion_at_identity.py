# Quaternion to axis-angle at the identity: sqrt(0) behind torch.where
# expect: error
# phase: forward | backward
# op: aten::div
# line: 12
# cause: where_gradient_leak | division_by_zero | sqrt_gradient_at_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
q = torch.tensor([1.0, 0.0, 0.0, 0.0], requires_grad=True)
s2 = (q[1:] ** 2).sum()
s = torch.sqrt(s2)
k_pos = 2.0 * torch.atan2(s, q[0]) / s
k = torch.where(s2 > 0, k_pos, torch.tensor(2.0))
aa = k * q[1:]
aa.sum().backward()
out = dict(axis_angle=aa, grad=q.grad)
