# The tensor inside a wrapped parameter is exchanged: no op, no registration
# expect: error
# harm: parameter
# modes: exact sentinel
import torch
from wrappers import Flat

p = torch.nn.Parameter(Flat(torch.ones(100)))
opt = torch.optim.SGD([p], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    p.sum().backward()
    opt.step()
p.elem = (torch.ones(100) - 2).log()  # here
