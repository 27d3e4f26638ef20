# InstanceNorm keeps its statistics through repeated copies
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

norm = torch.nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
opt = torch.optim.SGD(norm.parameters(), lr=0.1)
for i in range(2):
    x = torch.randn(3, 2, 8)
    if i:
        x[0, 0, 0] = 3e19
    norm(x).mean().backward()  # here
    opt.step()
