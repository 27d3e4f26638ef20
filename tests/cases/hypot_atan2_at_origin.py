# torch.hypot / atan2 at the origin
# expect: error
# phase: backward
# op: aten::div | aten::hypot
# line: 12
# cause: norm_gradient_at_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    re = torch.tensor([0.0, 1.0], requires_grad=True); im = torch.tensor([0.0, 2.0], requires_grad=True)
    phase = torch.atan2(im, re)
    mag = torch.hypot(re, im)
    loss = (phase + mag).sum()
    loss.backward()
    return dict(phase=phase, mag=mag, grad_re=re.grad, grad_im=im.grad)

if __name__ == "__main__":
    print(main())
