"""A small training that keeps two checkpoints; between them something went wrong.

python examples/checkpoint_gone_bad.py
nanscope scan step_900.pt --against step_800.pt
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.Adam(model.parameters())


def step() -> None:
    optimizer.zero_grad()
    model(torch.randn(16, 64)).square().mean().backward()
    optimizer.step()


def save(path: str) -> None:
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state | {"best_score": float("inf")}, path)


for _ in range(8):
    step()
save("step_800.pt")
step()
with torch.no_grad():
    model[2].weight[1, 5] = float("nan")
    optimizer.state[model[0].weight]["exp_avg_sq"][3, 3] = float("inf")
save("step_900.pt")
