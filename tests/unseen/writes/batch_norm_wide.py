# Statistics of a hundred thousand features are written like those of three
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

bn = torch.nn.BatchNorm1d(100_000)
opt = torch.optim.SGD(bn.parameters(), lr=0.1)
for i in range(3):
    x = torch.randn(4, 100_000)
    if i == 1:
        x[0, 99_999] = 3e19
    bn(x).mean().backward()  # here
    opt.step()
