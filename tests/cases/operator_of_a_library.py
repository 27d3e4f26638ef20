# A custom operator returns NaN for finite inputs: the reason is in its own code
# expect: error
# phase: forward
# op: my_library::inverse
# line: 23
# cause: foreign_operator
import numpy
import torch


@torch.library.custom_op("my_library::inverse", mutates_args=())
def inverse(x: torch.Tensor) -> torch.Tensor:
    values = x.numpy()
    return torch.from_numpy(numpy.reciprocal(values, where=values != 0, out=missing(values)))


def missing(values):
    return numpy.full_like(values, numpy.nan)


weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
loss = (weight * inverse(torch.tensor([1.0, 0.0, 2.0, 3.0]))).sum()
loss.backward()
optimizer.step()
