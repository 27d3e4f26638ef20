# Anomaly mode is on: torch itself raises in backward
# expect: error
# phase: backward
# op: aten::div
# line: 11
# cause: sqrt_gradient_at_zero
import torch
w = torch.nn.Parameter(torch.zeros(2)); opt = torch.optim.SGD([w], lr=.1)
with torch.autograd.set_detect_anomaly(True):
    v = w * 0
    l = v.sqrt().sum()
    l.backward()
opt.step()
