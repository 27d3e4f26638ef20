"""bisect_samples: the smallest set of samples that still fails."""

import torch

import nanscope

model = torch.nn.Linear(1, 1, bias=False)
torch.nn.init.ones_(model.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
batch = torch.ones(32, 1)
batch[[5, 20]] = 3e38  # each of them fits float32, their sum does not


def step(samples):
    optimizer.zero_grad()
    loss = model(samples).sum()
    loss.backward()
    optimizer.step()
    return loss


print(nanscope.bisect_samples(batch, step, model=model, optimizer=optimizer))
