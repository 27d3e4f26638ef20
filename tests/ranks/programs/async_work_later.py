# Several all-reduces are under way at once, and are waited for in another order later on.
# ranks: 2
# origin: rank 0, aten::sqrt, sqrt_of_negative, step 1
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weights = [torch.ones(3, requires_grad=True) for _ in range(3)]
optimizer = torch.optim.SGD(weights, lr=0.01)
for step in range(3):
    gradients, works = [], []
    for number in range(3):
        level = torch.tensor(-1.0 if (rank, step, number) == (0, 1, 1) else 1.0)
        gradient = torch.ones(3) * torch.sqrt(level)  # origin
        gradients.append(gradient)
        works.append(dist.all_reduce(gradient, async_op=True))
    for work in reversed(works):
        work.wait()
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient / 2
    optimizer.step()
