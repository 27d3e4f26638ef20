# AMP: the scaled loss is inf, gradients are clipped one by one, the run ends between step and update
# expect: silence
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
for number in range(3):
    optimizer.zero_grad()
    scaler.scale(model(torch.randn(8, 16)).pow(2).sum() + 2).backward()
    scaler.unscale_(optimizer)
    for parameter in model.parameters():
        torch.nn.utils.clip_grad_norm_([parameter], 0.1, foreach=True)
    scaler.step(optimizer)
    if number < 2:
        scaler.update()
