# The parameter is plain; its gradient is put there as a wrapper's inside
# expect: error
# harm: gradient | parameter
# modes: exact sentinel
import torch
from wrappers import Flat

p = torch.nn.Parameter(Flat(torch.ones(100)))
opt = torch.optim.SGD([p], lr=0.1)
p.sum().backward()
p.grad = Flat((torch.ones(100) - 2).sqrt())  # here
opt.step()
