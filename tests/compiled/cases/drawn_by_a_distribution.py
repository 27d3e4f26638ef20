# Noise of torch.normal beside a logarithm of 0: the replay draws it again
# expect: error
# phase: forward
# op: aten::log
# line: 14
# cause: log_of_zero
import torch

torch.manual_seed(0)


def loss_of(mean, p):
    noise = torch.normal(mean, torch.ones(4))
    return (0.1 * noise * mean - torch.log(p)).sum()


compiled = torch.compile(loss_of)
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
loss = compiled(torch.zeros(4), weight * torch.tensor([1.0, 1.0, 0.0, 1.0]))
loss.backward()
optimizer.step()
