# Kept where nobody can look
# expect: error | unknown
# modes: exact sentinel
import torch
from wrappers import InClosure

p = torch.nn.Parameter(InClosure(torch.zeros(100)))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(2):
    loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
