# A function outside torch writes through the pointer: nobody saw it, and the data is innocent
# expect: error
# phase: forward
# op: aten::addmm
# line: 26
# cause: unwatched_kernel
import ctypes

import torch


def normalise_in_c(tensor, broken):
    numbers = (ctypes.c_float * tensor.numel()).from_address(tensor.data_ptr())
    numbers[2] = float("nan") if broken else numbers[2] * 0.5


torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(8, 4)
    scaled = x * 2
    normalise_in_c(scaled, broken=step == 3)
    optimizer.zero_grad()
    # The first watched op that reads it
    loss = model(scaled).pow(2).mean()
    loss.backward()
    optimizer.step()
