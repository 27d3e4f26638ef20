# A parameter that nobody can look into, updated by hand
# expect: error | unknown
# modes: exact sentinel
import torch
from wrappers import InClosure

p = torch.nn.Parameter(InClosure(torch.ones(8)))
for _ in range(3):
    p.grad = None
    (p * p).sum().backward()
    with torch.no_grad():
        p.sub_(p.grad * 1e38 * 10)
