# Kept in an object of the program's own, beside a finite tensor in full view
# expect: error | unknown
# modes: exact sentinel
import torch
from wrappers import InBox

p = torch.nn.Parameter(InBox(torch.zeros(100)))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(2):
    loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
