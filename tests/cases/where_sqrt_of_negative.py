# torch.where(x > 0, sqrt(x), x) with negative x
# expect: error
# phase: forward | backward
# op: aten::sqrt | aten::div
# line: 10
# cause: where_gradient_leak | sqrt_of_negative
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.tensor([-1.0, -4.0, 9.0], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), x)
y.sum().backward()
result = dict(y=y, grad=x.grad)
