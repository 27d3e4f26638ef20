# log(0) "repaired" by nan_to_num: correct forward, NaN backward
# expect: error
# phase: forward | backward
# op: aten::log | aten::div
# line: 15
# cause: where_gradient_leak | log_of_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    x = torch.zeros(1, 1, 1, 7)
    x[..., 3] = 1.0
    x.requires_grad_()
    k = torch.tensor([[[[0.2, 1.0, 0.2]]]])
    c = F.conv2d(x, k, padding=(0, 1))
    d = torch.nan_to_num(-0.35 * torch.log(c), nan=0.0, posinf=0.0, neginf=0.0)
    loss = d.sum()
    loss.backward()
    return dict(d=d.flatten()[:6], grad=x.grad.flatten()[:6])

if __name__ == "__main__":
    print(main())
