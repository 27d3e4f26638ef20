# Kept where nobody can look, and healthy: nobody knows
# expect: unknown
# modes: exact sentinel
import torch
from wrappers import InClosure

p = torch.nn.Parameter(InClosure(torch.ones(100)))
opt = torch.optim.SGD([p], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    p.sum().backward()
    opt.step()
