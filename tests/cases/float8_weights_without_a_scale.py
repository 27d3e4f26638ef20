# Weights are kept in float8_e4m3fnuz without a scale: one beyond 240 becomes nan
# expect: error
# phase: forward
# op: aten::_to_copy
# line: 17
# cause: eight_bit_overflow
import torch

torch.manual_seed(0)
weight = torch.nn.Parameter(torch.randn(8, 8))
scale = torch.full((8, 1), 20.0)
optimizer = torch.optim.SGD([weight], lr=0.05)
x = torch.randn(16, 8)
for step in range(20):
    optimizer.zero_grad()
    scaled = weight * scale * 2.0**step
    stored = scaled.to(torch.float8_e4m3fnuz)
    loss = (x @ stored.to(torch.float32).t() / scale.t()).square().mean()
    loss.backward()
    optimizer.step()
