# A program without gradients prints what is in a wrapper
# expect: error
# modes: exact
import torch
from wrappers import Flat

x = Flat(torch.zeros(4))
y = x / x  # here
print(y.sum().item())
