# Naive softmax without max subtraction
# expect: error
# phase: forward
# op: aten::exp
# line: 11
# cause: exp_overflow
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    logits = torch.tensor([[2.0, 100.0, 1.0]], requires_grad=True)
    e = torch.exp(logits)
    p = e / e.sum(1, keepdim=True)
    loss = -torch.log(p[:, 1]).mean()
    loss.backward()
    return dict(e=e, p=p, loss=loss, grad=logits.grad)

if __name__ == "__main__":
    print(main())
