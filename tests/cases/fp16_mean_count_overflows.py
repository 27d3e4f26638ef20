# fp16 mean: the element count itself overflows to Inf and the loss is silently 0
# expect: error or warning
# phase: forward
# op: aten::_to_copy | aten::to | aten::copy_
# line: 11
# cause: half_overflow
# nothing non-finite is left at the end: a warning is right too
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.full((70000,), 0.5).half().requires_grad_()
n = torch.tensor(float(x.numel())).half()
loss = x.float().sum() / n.float()
loss.backward()
out = dict(n=n, loss=loss, grad_max=x.grad.float().abs().max())
