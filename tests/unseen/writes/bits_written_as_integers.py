# A parameter's bits are written through view(int32), and nobody reads it again
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
net.weight.detach().view(torch.int32).bitwise_or_(0x7F800000)
