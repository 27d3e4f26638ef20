# A bad gradient in a wrapper that the program itself throws away is handled
# expect: clean
# modes: exact sentinel
import torch
from wrappers import Flat

p = torch.nn.Parameter(Flat(torch.ones(10)))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(3):
    opt.zero_grad()
    loss = (p * (0.0 if i == 1 else 1.0)).sqrt().sum()
    loss.backward()
    if bool(torch.isfinite(p.grad.elem).all()):
        opt.step()
