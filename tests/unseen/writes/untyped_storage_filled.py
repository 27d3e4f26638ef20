# untyped_storage().fill_ makes NaN of a buffer
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3) * 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
net.scale.untyped_storage().fill_(255)
