# A causal mask in a wrapped buffer is meant
# expect: clean
# modes: exact sentinel
import torch
from wrappers import Flat

model = torch.nn.Linear(4, 4)
mask = torch.triu(torch.full((4, 4), float("-inf")), diagonal=1)
model.register_buffer("mask", Flat(mask))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    (model(torch.ones(4, 4)) + model.mask).softmax(-1).square().sum().backward()
    opt.step()
