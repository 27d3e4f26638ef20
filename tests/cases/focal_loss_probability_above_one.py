# Focal loss: p = exp(-CE) slightly above 1, then (1-p)**0.5
# expect: error
# phase: forward
# op: aten::pow
# line: 12
# cause: pow_domain | sqrt_of_negative
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    ce = torch.tensor([-1.2e-7, 0.3], requires_grad=True)   # as observed from a fused kernel
    p = torch.exp(-ce)
    loss = ((1 - p) ** 0.5 * ce).mean()
    loss.backward()
    return dict(p_minus_1=p - 1, loss=loss, grad=ce.grad)

if __name__ == "__main__":
    print(main())
