# The first example of every article: x / (x - x), printed
# expect: error
# phase: forward
# op: aten::div
# line: 11
# cause: division_by_zero
import torch


def unstable(x):
    return x / (x - x)


x = torch.tensor([1.0, 2.0, 0.0])
y = unstable(x)
print("result:", y)
