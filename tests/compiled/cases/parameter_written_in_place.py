# a region that only writes its input
# expect: error
# line: 12
# op: aten::div_
# phase: forward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
p = nn.Parameter(torch.ones(8))
@torch.compile
def f(x, y):
    x.div_(y)
with torch.no_grad():
    f(p, torch.zeros(8))
