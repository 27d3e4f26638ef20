# A wrapper that says what it wraps; the loss is NaN in the forward
# expect: error
# modes: exact sentinel
import torch
from wrappers import Flat

p = torch.nn.Parameter(Flat(torch.linspace(0, 1, 5000)))
opt = torch.optim.Adam([p], lr=0.1)
for i in range(3):
    loss = p.sum() if i < 2 else (p - 2).log().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
