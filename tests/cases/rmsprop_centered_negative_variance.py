# torch.optim.RMSprop(centered=True) takes the root of a negative variance
# expect: error
# phase: optimizer
# op: aten::sqrt_ | aten::sqrt
# line: 15
# cause: sqrt_of_negative
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
p = nn.Parameter(torch.zeros(64))
opt = torch.optim.RMSprop([p], lr=1e-3, alpha=0.9, centered=True)
g = torch.linspace(1e3, 2e4, 64)
bad_step = -1
for step in range(400):
    p.grad = g.clone()                                # constant gradient
    opt.step()
    if bad_step < 0 and not p.isfinite().all(): bad_step = step
stats = dict(bad_step=bad_step, n_bad=(~p.isfinite()).sum(), p=p)
