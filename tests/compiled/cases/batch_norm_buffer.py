# a buffer that a compiled region writes becomes bad
# expect: error
# line: 12
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
norm = nn.BatchNorm1d(4)
@torch.compile
def f(x):
    return norm(torch.log(x)).sum()
f(torch.zeros(3, 4))
