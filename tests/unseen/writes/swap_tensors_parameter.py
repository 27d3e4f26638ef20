# The same with a parameter
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
bad = torch.nn.Parameter((torch.ones(1, 3) - 2).log())  # here
torch.utils.swap_tensors(net.weight, bad)
