# .data = after the last step: no op writes the parameter, none reads it again
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
net.weight.data = net.weight.data / torch.zeros(1)  # here
