# Finite as a double, NaN as one of two floats
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(4) * 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
number = torch.tensor(0x3FF000007FC00000).view(torch.float64)  # 1.0000004...
net.scale.view(torch.float64).copy_(number)
