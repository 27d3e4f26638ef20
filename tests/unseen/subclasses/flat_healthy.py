# A healthy program with wrappers everywhere
# expect: clean
# modes: exact sentinel
import torch
from torch.testing._internal.two_tensor import TwoTensor
from wrappers import Flat, InAttribute, OwnMemory, layers

ps = [Flat(torch.ones(10)), TwoTensor(torch.ones(10), torch.ones(10)), InAttribute(torch.ones(10))]
ps += [layers(torch.ones(10), 3), OwnMemory(torch.ones(10))]
ps = [torch.nn.Parameter(p) for p in ps]
opt = torch.optim.Adam(ps, lr=0.01)
for _ in range(3):
    opt.zero_grad()
    for p in ps:
        (p * p).sum().backward()
    opt.step()
