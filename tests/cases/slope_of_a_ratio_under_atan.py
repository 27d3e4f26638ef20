# the ratio is infinite, atan brings it back to pi / 2, and no `where` is near
# expect: error
# phase: backward
# op: aten::div
# line: 11
# cause: division_by_zero
import torch

width = torch.tensor([2.0, 1.0, 4.0], requires_grad=True)
height = torch.tensor([1.0, 0.0, 3.0], requires_grad=True)
angle = torch.atan(width / height)
optimizer = torch.optim.SGD([width, height], lr=0.1)
(angle - 0.7).square().sum().backward()
optimizer.step()
