# The loss inside torch.func.grad is NaN, its gradients are not
# expect: error
# phase: forward
# op: aten::div
# line: 14
# cause: division_by_zero
import torch
from torch.func import functional_call, grad
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
with torch.no_grad(): net[0].bias.fill_(-100.)
ps = dict(net.named_parameters())
def loss(ps, x):
    u = functional_call(net, ps, (x,))
    u = u / u.norm()
    return u.sum()
for _ in range(2):
    g = grad(loss)(ps, torch.ones(2))
    ps = {k: v - .1 * g[k] for k, v in ps.items()}
print({k: v.sum().item() for k, v in ps.items()})
