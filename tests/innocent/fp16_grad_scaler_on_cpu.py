# fp16 with GradScaler: the first scales overflow, the steps are skipped, then training is healthy
# expect: silence
import torch
import torch.nn.functional as F
from torch import nn


class Regressor(nn.Module):
    def __init__(self, inputs=12, hidden=32):
        super().__init__()
        self.encode = nn.Linear(inputs, hidden)
        self.decode = nn.Linear(hidden, 1)

    def forward(self, x):
        hidden = F.relu(self.encode(x))
        return self.decode(hidden).squeeze(-1), hidden


def activity(hidden):
    return hidden.float().pow(2).mean()


def shards(count, size, generator):
    for _ in range(count):
        x = torch.randn(size, 12, generator=generator)
        yield x, x[:, 0] - 0.5 * x[:, 1]


def main():
    torch.manual_seed(0)
    model = Regressor()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=10)
    generator = torch.Generator().manual_seed(1)
    skipped = 0
    for step, (x, y) in enumerate(shards(40, 32, generator)):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            prediction, hidden = model(x)
            loss = F.mse_loss(prediction.float(), y) + 1e-3 * activity(hidden)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped += scaler.get_scale() < before
        if step % 10 == 9:
            print(f"step {step:2d} loss {loss.item():.4f} norm {norm.item():.3f} scale {scaler.get_scale():g}")
    print(f"{skipped} steps skipped")


if __name__ == "__main__":
    main()
