# Nine layers: seen, or said not to be
# expect: error | unknown
# modes: exact sentinel
import torch
from wrappers import layers

p = torch.nn.Parameter(layers(torch.zeros(10), 9))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(2):
    loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
