# clip_grad_norm_ turns one Inf gradient into NaN everywhere
# expect: error
# phase: forward | backward | optimizer
# op: aten::_foreach_mul_ | aten::mul_ | aten::mul
# line: 12 | 11
# cause: zero_times_inf | bad_input_data
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    a = nn.Parameter(torch.ones(2)); b = nn.Parameter(torch.ones(2)); c = nn.Parameter(torch.ones(2))
    a.grad = torch.tensor([float('inf'), 1.0]); b.grad = torch.tensor([2.0, 3.0])
    n1 = torch.nn.utils.clip_grad_norm_([a, b], 1.0)
    c.grad = torch.tensor([1e20, 1e20])                 # finite, but the norm overflows float32
    n2 = torch.nn.utils.clip_grad_norm_([c], 1.0)
    return dict(n1=n1, a_grad=a.grad, b_grad=b.grad, n2=n2, c_grad=c.grad)

if __name__ == "__main__":
    print(main())
