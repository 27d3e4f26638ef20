"""Mixed precision with a loss scaler and a schedule: every curve of the page moves.

The scale grows until a step is skipped, which is a note; then a probability of exactly 0 makes the
loss infinite, which no smaller scale mends.
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
for step in range(20):
    x = torch.randn(32, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        p = torch.softmax(model(x).float(), dim=-1)
        if step == 14:
            p = p * (x[:, :3] > 0)  # a filter that leaves nothing of some
        loss = -torch.log(p[:, 0]).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    schedule.step()
