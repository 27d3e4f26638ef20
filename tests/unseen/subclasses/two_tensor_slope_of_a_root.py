# TwoTensor as parameter: the slope of sqrt at 0 makes every gradient NaN in step 1
# expect: error
# harm: gradient
# modes: exact sentinel
import torch
from torch.testing._internal.two_tensor import TwoTensor

a = torch.rand(3000)
p = torch.nn.Parameter(TwoTensor(a, a.clone()))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(4):
    loss = (p * p).sum() if i != 1 else (p - p.detach()).abs().sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
