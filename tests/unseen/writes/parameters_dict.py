# A parameter put straight into the dictionary of the module
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
net._parameters["bias"] = torch.nn.Parameter((torch.ones(1) - 2).log())  # here
