# A region gives 0, for it was divided by inf; another makes the loss of it
# expect: error
# phase: forward
# op: aten::_to_copy
# line: 12
# cause: half_overflow
import torch


@torch.compile
def mean_of(x):
    count = torch.tensor(float(x.numel())).half()
    return x.float().sum() / count.float()


@torch.compile
def loss_of(mean, weight):
    return (mean * 3).square() + weight.square().sum()


x = torch.full((70000,), 0.5).half().requires_grad_()
mean = mean_of(x)
loss_of(mean, torch.ones(3, requires_grad=True)).backward()
