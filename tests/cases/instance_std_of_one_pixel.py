# Instance standard deviation on a 1x1 feature map
# expect: error
# phase: forward
# op: aten::var
# line: 10
# cause: empty_reduction
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(2, 3, 1, 1, requires_grad=True)
var = torch.var(x, dim=(2, 3), keepdim=True)
std = torch.sqrt(var + 1e-5)
den = torch.max(std, torch.ones_like(std))
loss = (x / den).sum()
loss.backward()
values = dict(var=var.flatten(), loss=loss, grad=x.grad.flatten())
