"""Logarithms of images, one of which is black: every place of one image in four is bad."""

import torch

torch.manual_seed(0)
scale = torch.ones(3, 1, 1, requires_grad=True)
optimizer = torch.optim.SGD([scale], lr=0.1)
for step in range(4):
    images = torch.rand(4, 3, 20, 28) + 0.01
    if step == 3:
        images[2] = 0.0
    loss = torch.log(images * scale).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
