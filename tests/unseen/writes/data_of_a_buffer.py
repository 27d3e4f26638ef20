# .data = puts a bad tensor under a buffer
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
    if i:
        net.scale.data = (net.scale - 2).log()  # here
