"""find_first_bad_batch: walks a loader to the first bad step and puts everything back."""

import torch

import nanscope

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = [torch.randn(4, 2) for _ in range(6)]
batches[3][1, 0] = float("nan")


def step(batch):
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return loss


found = nanscope.find_first_bad_batch(step, batches, model=model, optimizer=optimizer)
print(found)
print("the model is as before:", nanscope.check_weights(model).ok)
