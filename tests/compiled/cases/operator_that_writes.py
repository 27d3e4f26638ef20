# an op of another library that writes its argument
# expect: error
# line: 11
# op: aten::reciprocal_
# phase: forward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
@torch.library.custom_op("compiled_case::inverse_", mutates_args=("x",))
def inverse_(x: torch.Tensor) -> None:
    x.reciprocal_()
p = nn.Parameter(torch.zeros(4))
@torch.compile
def f(x):
    inverse_(x)
    return x.sum() * 0
with torch.no_grad():
    f(p)
