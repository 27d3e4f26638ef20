# A bad wrapper is assigned to a buffer
# expect: error
# harm: buffer
# modes: exact sentinel
import torch
from wrappers import Flat


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(10))
        self.register_buffer("mean", Flat(torch.ones(10)))


scale = Scale()
opt = torch.optim.SGD(scale.parameters(), lr=0.1)
scale.mean = (scale.mean - 2).log()  # here
scale.w.sum().backward()
opt.step()
