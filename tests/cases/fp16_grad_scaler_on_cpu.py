# fp16 with GradScaler: an energy term squares fp16 activations of an unscaled shard, every later loss is inf
# expect: error
# phase: forward
# op: aten::mul | aten::pow
# line: 24
# cause: half_overflow
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
    energy = hidden * hidden
    return energy.float().mean()


def shards(count, size, generator):
    """The last shards were exported in millivolts instead of volts."""
    for number in range(count):
        x = torch.randn(size, 12, generator=generator)
        y = x[:, 0] - 0.5 * x[:, 1]
        yield (x if number < 8 else x * 1000.0), y


def main():
    torch.manual_seed(0)
    model = Regressor()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=50)
    generator = torch.Generator().manual_seed(1)
    skipped = 0
    for step, (x, y) in enumerate(shards(16, 32, generator)):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            prediction, hidden = model(x)
            loss = F.mse_loss(prediction.float(), y) + 1e-3 * activity(hidden)
        scaler.scale(loss).backward()
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped += scaler.get_scale() < before
        print(f"step {step:2d} scale {scaler.get_scale():g}")
    print(f"{skipped} steps skipped")


if __name__ == "__main__":
    main()
