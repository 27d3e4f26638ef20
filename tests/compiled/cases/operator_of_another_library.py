# an op of another library, inside a region
# expect: error
# line: 17
# op: aten::reciprocal | aten::div
# phase: forward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

@torch.library.custom_op("compiled_case::inverse", mutates_args=())
def inverse(x: torch.Tensor) -> torch.Tensor:
    return 1 / x
inverse.register_fake(torch.empty_like)
inverse.register_autograd(lambda ctx, g: g)
w = torch.zeros(4, requires_grad=True)
@torch.compile
def f(x):
    return inverse(x * 2).sum()
step(f(w), w)
