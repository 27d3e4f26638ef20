# __tensor_flatten__ raises: neither the program nor the watch may suffer
# expect: unknown
# modes: exact sentinel
import torch
from wrappers import Raising

p = torch.nn.Parameter(Raising(torch.ones(100)))
opt = torch.optim.SGD([p], lr=0.1)
for _ in range(2):
    opt.zero_grad()
    p.sum().backward()
    opt.step()
