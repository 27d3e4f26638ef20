# A parameter's storage is given away and taken back, as sharding does, and filled with a bad value
# expect: error
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    storage = net.weight.untyped_storage()
    storage.resize_(0)
    storage.resize_(12)
    with torch.no_grad():
        net.weight.copy_(torch.ones(1, 3) / (1.0 - i))  # here
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
