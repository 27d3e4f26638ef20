"""A logarithm of zero that is used in many places: all but one make it finite again.

Two ops lie on the way; some branches leave it at the one, some at the other, one after an op
of its own.
"""

import torch

x = torch.zeros(3, requires_grad=True)
shown = []


def show(value: torch.Tensor) -> None:
    shown.append(value.detach().sum().item())


scores = torch.ones(2, 3).masked_fill(torch.eye(2, 3).bool(), float("-inf"))
show(scores.softmax(-1))
y = torch.log(x)
z = y * 2
show(y.exp())
show(y.sigmoid())
show(z.tanh())
show(z.relu())
show((z + 1).atan())
show(y.erf())
show(torch.nn.functional.softplus(y))
show(torch.nn.functional.elu(z))
show(z.exp())
show(y.tanh())
z.mean().backward()
torch.optim.SGD([x], 0.1).step()
