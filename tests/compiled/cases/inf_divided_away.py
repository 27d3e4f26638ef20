# The number of elements does not fit float16: the mean is divided by inf, and the loss is 0
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


x = torch.full((70000,), 0.5).half().requires_grad_()
mean_of(x).backward()
