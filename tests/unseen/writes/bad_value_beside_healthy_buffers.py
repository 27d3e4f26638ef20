# A NaN that was made and thrown away: buffers moved about meanwhile are none of its affair
# expect: clean
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(3):
    junk = (torch.ones(3) - 2).log()
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
    net.scale.set_(torch.full((3,), float(i)))
    net._buffers["scale"] = torch.nan_to_num(junk)
