# AMP with checkpoints, whose input requires grad; clipping makes NaN of the Inf that was found
# expect: silence
import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
first, second = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
parameters = [*first.parameters(), *second.parameters()]
optimizer = torch.optim.SGD(parameters, 1e-4)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**126)
for number in range(3):
    x = torch.randn(8, 16, requires_grad=True)
    hidden = checkpoint(first, x, use_reentrant=True)
    loss = checkpoint(second, hidden, use_reentrant=False).pow(2).sum()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    if number == 2:
        break
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    scaler.step(optimizer)
    scaler.update()
