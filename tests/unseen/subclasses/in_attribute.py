# No __tensor_flatten__, but the tensor is an attribute
# expect: error
# modes: exact sentinel
import torch
from wrappers import InAttribute

p = torch.nn.Parameter(InAttribute(torch.zeros(100)))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(2):
    loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
