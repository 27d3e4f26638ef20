# the same where no gradient is asked for
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
@torch.compile
def f(x):
    return torch.where(x > 0, torch.log(x), 0.0).sum()
with torch.no_grad():
    print(f(torch.randn(1000)).item())
