# The largest rank divided by their number is 1, a pole of erfinv
# expect: error
# phase: forward
# op: aten::erfinv
# line: 12
# cause: special_function_domain
import torch
torch.manual_seed(0)
x = torch.randn(20, 3)
head = torch.nn.Linear(3, 1)
u = (x.argsort(0).argsort(0) + 1) / len(x)
z = torch.erfinv(2 * u - 1)
loss = head(z).pow(2).mean()
loss.backward()
out = dict(loss=loss, grad=head.weight.grad)
