# set_ puts a bad storage under a buffer
# expect: error
# harm: buffer
# modes: exact sentinel
import torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("scale", torch.ones(4))


m = M()
opt = torch.optim.SGD(m.parameters(), 0.1)
bad = torch.tensor([1.0, 0.0, 1.0, 1.0]).log() * torch.tensor([0.0, 0.0, 0.0, 0.0])  # here
m.scale.set_(bad.untyped_storage(), 0, (4,), (1,))
(m.w * 2).sum().backward()
opt.step()
