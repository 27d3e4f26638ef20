# Residual addition overflows fp16 although both summands fit
# expect: error
# phase: forward
# op: aten::add
# line: 11
# cause: half_overflow
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
resid = torch.tensor([9000.0, 1.0]).half().requires_grad_()
ff = torch.tensor([60600.0, 2.0]).half()
h = resid + ff
loss = (h.float() - h.float().mean()).pow(2).mean()
loss.backward()
stats = dict(h=h, loss=loss, grad=resid.grad)
