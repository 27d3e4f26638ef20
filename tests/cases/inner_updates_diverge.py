# the rate of the inner loop is too large: its updates grow until the forward overflows
# expect: error
# phase: forward
# op: aten::mul
# line: 14
# cause: learning_rate_divergence
import torch

scale = torch.tensor(2.0, requires_grad=True)
outer = torch.optim.SGD([scale], lr=1e-3)
x = torch.tensor([3.0, 5.0, 8.0])
fast = scale
for _ in range(24):
    loss = (fast * x - 1).square().mean()
    (gradient,) = torch.autograd.grad(loss, fast, create_graph=True)
    fast = fast - 2.0 * gradient
(fast * x).mean().backward()
outer.step()
