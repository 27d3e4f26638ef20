# torch.utils.swap_tensors exchanges a buffer for a bad tensor
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
bad = (torch.ones(3) - 2).log()  # here
torch.utils.swap_tensors(net.scale, bad)
net(torch.ones(2, 3)).sum().backward()
opt.step()
