# two scalers: one always steps, the other skips until its scale is nothing; a root of zero, not the scale
# expect: error
# phase: backward
# op: aten::div
# line: 18
# cause: sqrt_gradient_at_zero
import torch

torch.manual_seed(0)
healthy, broken = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
pairs = [
    (torch.optim.SGD(model.parameters(), 1e-3), torch.amp.GradScaler("cpu", init_scale=8.0))
    for model in (healthy, broken)
]
for _ in range(9):
    x = torch.rand(8, 4)
    losses = [model(x).pow(2).mean() for model in (healthy, broken)]
    losses[1] = losses[1] + (broken.weight.sum() * 0).abs().sqrt()
    for (optimizer, scaler), loss in zip(pairs, losses):
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
        scaler.step(optimizer)
        scaler.update()
