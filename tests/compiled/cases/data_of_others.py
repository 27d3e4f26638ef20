# a NaN that came with the data, read in a region
# expect: error
# line: 19
# op: aten::mul
# phase: data
# cause: bad_input_data
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import numpy
w = torch.randn(4, requires_grad=True)
@torch.compile
def f(x):
    return (x * w).sum()
x = torch.from_numpy(numpy.array([1.0, float("nan"), 2.0, 3.0], dtype="float32"))
step(f(x), w)
