# A gradient whose storage is exchanged before the step
# expect: error
# modes: exact sentinel
import torch

w = torch.ones(4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for i in range(2):
    opt.zero_grad()
    (w * 2).sum().backward()
    if i:
        bad = (torch.ones(4) - 2).sqrt()  # here
        w.grad.set_(bad)
    opt.step()
