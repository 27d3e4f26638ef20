# only compiled: the compiler may reorder products
# expect: error
# line: 22
# op: torch.compile
# phase: forward
# cause: compiled_only
# backend: inductor
# kernel: yes
# setting: cpp.enable_unsafe_math_opt_flag
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(64, requires_grad=True)
@torch.compile(options={"cpp.enable_unsafe_math_opt_flag": True})
def f(x):
    return (x * 1e25 * 1e25 * w).sum()
loss = f(torch.full((64,), 1e-20))
step(loss, w)
