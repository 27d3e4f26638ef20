# AMP as documented, with clipping: every step is still skipped when the run ends
# expect: silence
import torch

torch.manual_seed(0)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
for _ in range(3):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(torch.randn(8, 64)).float().pow(2).sum()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    print("norm", norm.item(), "skipped", scaler.get_scale() < before)
