# exp(logvar) underflows to zero and becomes a divisor (mixture density loss)
# expect: error
# phase: forward
# op: aten::div
# line: 12
# cause: division_by_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    logvar = torch.tensor([-2.0, -120.0], requires_grad=True)
    err = torch.tensor([0.5, 0.3])
    nll = logvar + err / torch.exp(logvar)
    loss = nll.mean()
    loss.backward()
    return dict(nll=nll, grad=logvar.grad)

if __name__ == "__main__":
    print(main())
