# WGAN-GP gradient penalty: sqrt of a sum of squares that is exactly zero
# expect: error
# phase: backward
# op: aten::div | aten::sqrt
# line: 13
# cause: sqrt_gradient_at_zero | norm_gradient_at_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
nn.init.zeros_(critic[2].weight)                    # zero-initialised head: input gradient is exactly 0
x = torch.randn(4, 2, requires_grad=True)
g, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
norm = g.pow(2).sum(1).sqrt()
loss = ((norm - 1) ** 2).mean()
loss.backward()
out = dict(norm=norm, loss=loss, grad=critic[2].weight.grad)
