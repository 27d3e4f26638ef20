# A weight in eight bits whose scale overflowed
# expect: error
# modes: exact sentinel
import torch
from wrappers import Scaled

w = torch.randn(16, 16)
spread = torch.zeros(())
scale = w.abs().max() / spread  # here
frozen = Scaled((w * 10).to(torch.int8), scale)
head = torch.nn.Linear(16, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
head(torch.ones(2, 16) @ frozen).sum().backward()
opt.step()
