# Causal masks in buffers that are saved, loaded, copied from NumPy, deep-copied and cast
# expect: silence
import copy
import io

import numpy as np
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, length: int) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.mix(x)
        return (h @ h.transpose(1, 2) + self.mask).softmax(-1) @ h


torch.manual_seed(0)
first, second, average = Attention(6), Attention(6), Attention(6)
file = io.BytesIO()
torch.save(first.state_dict(), file)
file.seek(0)
second.load_state_dict(torch.load(file))
first.mask = torch.from_numpy(np.triu(np.full((6, 6), -np.inf, np.float32), 1))
average.load_state_dict(first.state_dict())
wide = copy.deepcopy(second).double()
half = copy.deepcopy(first).to(torch.bfloat16)
assert wide(torch.randn(2, 6, 4).double()).isfinite().all()
assert half(torch.randn(2, 6, 4).bfloat16()).isfinite().all()
optimizer = torch.optim.SGD(second.parameters(), 0.1)
for _ in range(3):
    loss = second(torch.randn(2, 6, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.load_state_dict(second.state_dict())
print("done")
