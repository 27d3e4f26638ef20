# Masked softmax where the mask is multiplied, then renormalised: 0/0
# expect: error
# phase: forward
# op: aten::div
# line: 13
# cause: division_by_zero | all_masked_softmax
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    s = torch.randn(2, 3, requires_grad=True)
    mask = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    p = s.softmax(-1) * mask
    att = p / p.sum(-1, keepdim=True)
    loss = att.pow(2).sum()
    loss.backward()
    return dict(att=att, loss=loss, grad=s.grad)

if __name__ == "__main__":
    print(main())
