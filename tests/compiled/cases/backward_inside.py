# The whole step is one compiled function: it breaks at backward(), which runs while dynamo reads
# expect: error
# phase: forward | backward
# op: aten::sqrt | aten::div
# line: 11
# cause: where_gradient_leak
import torch


def masked_root(x):
    return torch.where(x > 0, torch.sqrt(x), x)


@torch.compile
def step():
    x = torch.tensor([-1.0, -4.0, 9.0], requires_grad=True)
    y = masked_root(x)
    y.sum().backward()
    return y, x.grad


step()
