# The update itself overflows: half precision inside the wrapper
# expect: error
# harm: parameter
# phase: optimizer
# modes: exact sentinel
import torch
from wrappers import Flat

p = torch.nn.Parameter(Flat(torch.full((5000,), 60000.0, dtype=torch.float16)))
opt = torch.optim.SGD([p], lr=60000.0)
for _ in range(3):
    loss = -(p.float() * 0.5).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()  # here
