# The running variance overflows inside the kernel and goes into the checkpoint
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

bn = torch.nn.BatchNorm2d(3)
opt = torch.optim.SGD(bn.parameters(), lr=0.1)
x = torch.randn(4, 3, 32, 32)
x[0, 0, 0, 0] = 3e19
bn(x).mean().backward()  # here
opt.step()
