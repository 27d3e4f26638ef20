# A subclass without __torch_dispatch__
# expect: error
# modes: exact sentinel
import torch


class Named(torch.Tensor):
    pass


p = torch.nn.Parameter(torch.zeros(100).as_subclass(Named))
opt = torch.optim.SGD([p], lr=0.1)
for i in range(2):
    loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
    opt.zero_grad()
    loss.backward()
    opt.step()
