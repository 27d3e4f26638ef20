# AMP: one batch holds a NaN; the scaler skips its step as if the scale were too large
# expect: error
# phase: forward
# op: aten::lift_fresh; from torch 2.15: aten::fill_
# line: 16
# cause: bad_input_data
import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8)
for step in range(6):
    x = torch.randn(8, 16)
    if step == 2:
        x[3, 5] = float("nan")
    loss = model(x).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
