# A gradient replaced through .data
# expect: error
# modes: exact sentinel
import torch

w = torch.ones(4, requires_grad=True)
opt = torch.optim.Adam([w], lr=0.1)
for i in range(2):
    opt.zero_grad()
    (w * 2).sum().backward()
    if i:
        w.grad.data = w.grad / (w.grad - w.grad)  # here
    opt.step()
