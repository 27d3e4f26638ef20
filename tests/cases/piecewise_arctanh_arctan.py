# Piecewise physics profile: arctanh on one side, arctan on the other
# expect: error
# phase: forward | backward
# op: aten::sqrt
# line: 11
# cause: where_gradient_leak | sqrt_of_negative
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    inner = 2 * torch.atanh(torch.sqrt((1 - x) / (1 + x))) / torch.sqrt(1 - x ** 2)
    outer = 2 * torch.atan(torch.sqrt((x - 1) / (1 + x))) / torch.sqrt(x ** 2 - 1)
    f = torch.where(x < 1, inner, outer)
    f.sum().backward()
    return dict(f=f, grad=x.grad)

if __name__ == "__main__":
    print(main())
