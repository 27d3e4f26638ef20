# Only the second of the two wrapped tensors goes bad: looking at the first is not enough
# expect: error
# modes: exact sentinel
import torch
from torch.testing._internal.two_tensor import TwoTensor

p = torch.nn.Parameter(TwoTensor(torch.ones(50), torch.zeros(50)))
opt = torch.optim.SGD([p], lr=0.1)
for _ in range(2):
    loss = p.log().clamp(min=-1e30).sum() if _ else (p * p).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
