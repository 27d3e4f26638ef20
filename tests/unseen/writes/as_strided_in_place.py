# as_strided_ does the same without naming a storage
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
m.scale.as_strided_((4,), (1,), 4)
m.w.sum().backward()
opt.step()
