# logsumexp of all -inf: forward -inf, backward NaN
# expect: error
# phase: backward
# op: aten::sub | aten::logsumexp
# line: 12
# cause: inf_minus_inf | all_masked_softmax
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    emit = torch.randn(3, requires_grad=True)
    alpha = torch.full((3,), float('-inf'))             # no state is reachable yet
    step = torch.logsumexp(alpha + emit, dim=0)
    loss = torch.logaddexp(step, emit[0])               # another, reachable path
    loss.backward()
    return dict(step=step, loss=loss, grad=emit.grad)

if __name__ == "__main__":
    print(main())
