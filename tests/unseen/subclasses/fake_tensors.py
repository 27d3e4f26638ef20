# A program that only asks for shapes: nothing is computed, nothing is hidden
# expect: clean
# modes: exact sentinel
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():
    model = torch.nn.Linear(8, 8)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 8)).sum().backward()
    opt.step()
