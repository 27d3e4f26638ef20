# A frozen eight-bit weight whose scale is written bad, and that nobody reads any more
# expect: error
# harm: parameter
# modes: exact sentinel
import torch
from wrappers import Scaled


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        weight = Scaled(torch.ones(4, 4, dtype=torch.int8), torch.ones(()))
        self.frozen = torch.nn.Parameter(weight, requires_grad=False)
        self.head = torch.nn.Linear(4, 1)


net = Net()
opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    net.head(torch.ones(2, 4)).sum().backward()
    opt.step()
    net.frozen.scale.mul_(torch.zeros(())).div_(torch.zeros(()))  # here
