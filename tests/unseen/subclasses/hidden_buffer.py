# A buffer that nobody can look into, beside a healthy model
# expect: unknown
# modes: exact sentinel
import torch
from wrappers import InClosure

model = torch.nn.Linear(3, 1)
model.register_buffer("scale", InClosure(torch.ones(3)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    opt.step()
