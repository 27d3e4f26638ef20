# clamp(-1, 1) before acos repairs forward but not backward
# expect: error; from torch 2.15: silence
# phase: backward
# op: aten::rsqrt | aten::acos
# line: 12
# cause: inverse_trig_domain
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
q = torch.tensor([1.0, 0.0, 0.0, 0.0], requires_grad=True)
vec = q[1:]
norm_q = vec.norm().clamp(min=1e-8)
logq = vec * torch.acos(q[0].clamp(-1.0, 1.0)) / norm_q
logq.sum().backward()
summary = dict(logq=logq, grad=q.grad)
