# A subclass with __torch_dispatch__ and memory of its own
# expect: error
# modes: exact sentinel
import torch
from wrappers import OwnMemory

p = torch.nn.Parameter(OwnMemory(torch.zeros(100)))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(2):
    loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
