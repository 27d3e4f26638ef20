# AsyncCollectiveTensor around a bad value, on the way to a loss
# expect: error
# modes: exact sentinel
import torch
from torch.distributed._functional_collectives import AsyncCollectiveTensor

w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
bad = (torch.ones(4) - 2).log()  # here
(w * AsyncCollectiveTensor(bad)).sum().backward()
opt.step()
