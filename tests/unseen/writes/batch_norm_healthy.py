# BatchNorm, InstanceNorm with statistics, an exponential average
# expect: clean
# modes: exact sentinel
import torch

net = torch.nn.Sequential(
    torch.nn.Conv1d(2, 4, 3),
    torch.nn.BatchNorm1d(4),
    torch.nn.InstanceNorm1d(4, affine=True, track_running_stats=True),
)
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(8, 2, 16)).square().mean().backward()
    opt.step()
