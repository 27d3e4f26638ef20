# std computed as 0.0 * mean + std lets an Inf mean in
# expect: error
# phase: forward
# op: aten::mul
# line: 10
# cause: float_overflow | zero_times_inf
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
mean = torch.tensor([[1.0, 3.0e38]], requires_grad=True)
mean2 = mean * 2                                       # overflows to inf for the second action
std = nn.Parameter(torch.tensor([0.5, 0.5]))
scale = mean2 * 0.0 + std
loss = scale.sum()
loss.backward()
values = dict(mean2=mean2, scale=scale, grad=mean.grad)
