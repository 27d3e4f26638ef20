# A buffer that is a wrapper is overwritten inside
# expect: error
# harm: buffer
# modes: exact sentinel
import torch
from wrappers import Flat


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(6000))
        self.register_buffer("mean", Flat(torch.ones(6000)))

    def forward(self, x):
        self.mean.mul_((x - x.mean()).sqrt())  # here
        return self.w * x


scale = Scale()
opt = torch.optim.SGD(scale.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    scale(torch.full((6000,), float(i)) if i != 1 else torch.linspace(0, 1, 6000)).sum().backward()
    opt.step()
