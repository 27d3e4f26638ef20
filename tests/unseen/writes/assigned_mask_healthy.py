# A mask of -inf assigned in the place of a finite buffer is meant
# expect: clean
# modes: exact sentinel
import torch

net = torch.nn.Linear(4, 4)
net.register_buffer("mask", torch.zeros(4, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    net.mask = torch.full((4, 4), float("-inf")).triu(1)
    opt.zero_grad()
    (net(torch.ones(4, 4)) + net.mask).softmax(-1).square().sum().backward()
    opt.step()
