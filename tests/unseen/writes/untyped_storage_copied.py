# untyped_storage().copy_ brings bad bytes under a parameter
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
bad = (torch.ones(1, 3) - 2).log()
net.weight.untyped_storage().copy_(bad.untyped_storage())
