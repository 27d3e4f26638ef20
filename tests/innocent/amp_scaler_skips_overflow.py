# AMP: scaled gradients overflow, the scaler skips the step and lowers the scale
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
p = nn.Parameter(torch.tensor([2.0, -1.0]).half())
opt = torch.optim.SGD([p], lr=1e-3)
scale, log = 65536.0, []
for step in range(12):
    opt.zero_grad()
    loss = (p.float() * 3.0).pow(2).sum()
    (loss * scale).backward()                          # fp16 gradient overflows while scale is large
    if p.grad.isfinite().all():
        p.grad.div_(scale); opt.step(); log.append('step')
    else:
        scale /= 2; log.append('skip')
out = dict(skips=log.count('skip'), scale=scale, p=p)
