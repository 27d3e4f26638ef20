# AMP: the scaled loss itself is logged, and is inf while the scale is too large
# expect: silence
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for _ in range(3):
    optimizer.zero_grad()
    scaled = scaler.scale(model(torch.randn(8, 4)).pow(2).sum() + 4)
    print("scaled", scaled.item())
    scaled.backward()
    scaler.step(optimizer)
    scaler.update()
