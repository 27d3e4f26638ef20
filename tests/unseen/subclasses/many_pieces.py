# Two hundred pieces, the last one bad
# expect: error | unknown
# modes: exact sentinel
import torch
from wrappers import Many

p = torch.nn.Parameter(Many(torch.arange(400.0).flip(0)))
opt = torch.optim.SGD([p], lr=0.1)
(p * p).sum().backward()
opt.step()
opt.zero_grad()
(p * p).sqrt().sum().backward()  # here
opt.step()
