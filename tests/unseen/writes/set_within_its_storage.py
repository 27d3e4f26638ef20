# set_ moves a buffer to the bad half of the storage that it lies in already
# expect: error
# harm: buffer
# modes: exact sentinel
import torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4))
        both = torch.ones(8) * 2
        both[4:] = (both[:4] - 3).sqrt()  # here
        self.register_buffer("scale", both[:4])


m = M()
opt = torch.optim.SGD(m.parameters(), 0.1)
m.scale.set_(m.scale.untyped_storage(), 4, (4,), (1,))
m.w.sum().backward()
opt.step()
