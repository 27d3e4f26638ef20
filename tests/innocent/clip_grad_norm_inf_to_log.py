# clip_grad_norm_(params, inf) to log the norm: Inf coefficient clamped to 1
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
lin = nn.Linear(3, 1)
lin(torch.randn(4, 3)).pow(2).mean().backward()
g0 = lin.weight.grad.clone()
norm = torch.nn.utils.clip_grad_norm_(lin.parameters(), float('inf'))
stats = dict(norm=norm, unchanged=bool((g0 == lin.weight.grad).all()))
