# AMP with accumulation, two optimizers of one scaler; the run ends between backward and unscale_
# expect: silence
import torch

torch.manual_seed(0)
generator, critic = torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)
optimizers = [torch.optim.SGD(generator.parameters(), 1e-4), torch.optim.Adam(critic.parameters(), fused=True)]
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
for number in range(5):
    with torch.autocast("cpu", dtype=torch.float16):
        made = generator(torch.randn(8, 64))
        loss = critic(made).float().pow(2).sum()
    scaler.scale(loss / 3).backward()
    if number % 3 == 2:
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        for optimizer in optimizers:
            optimizer.zero_grad()
