# What is in view cannot be all of it
# expect: unknown
# modes: exact sentinel
import torch
from wrappers import InBox

p = torch.nn.Parameter(InBox(torch.ones(100)))
opt = torch.optim.SGD([p], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    p.sum().backward()
    opt.step()
