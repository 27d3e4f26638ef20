# An op of the program writes an argument that its schema calls an input
# expect: error
# harm: buffer | parameter
# modes: exact sentinel
import torch

library = torch.library.Library("unseen_lying", "DEF")
library.define("touch(Tensor x) -> Tensor")
library.impl("touch", lambda x: x.detach().sub_(1).div_(0 * x.detach()).sum(), "CPU")
net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3) * 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
torch.ops.unseen_lying.touch(net.scale)  # here
