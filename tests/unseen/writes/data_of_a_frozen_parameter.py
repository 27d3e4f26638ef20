# A teacher's weight, which no optimizer has, is replaced through .data
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net, teacher = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
teacher.requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
    teacher.weight.data = (teacher.weight.abs() + 1) / (teacher.weight * i)  # here
