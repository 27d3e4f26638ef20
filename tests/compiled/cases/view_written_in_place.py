# a view of an input is written
# expect: error
# line: 12
# op: aten::log_
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
p = nn.Parameter(torch.zeros(6))
@torch.compile
def f(x):
    x[2:4].log_()
    return x.shape[0] * 2
with torch.no_grad():
    f(p)
