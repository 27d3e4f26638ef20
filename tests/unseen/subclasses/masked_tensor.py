# MaskedTensor: the loss is a log of what is not masked
# expect: error
# modes: exact
import torch
from torch.masked import masked_tensor

data = torch.tensor([0.0, 1.0, 2.0])
x = masked_tensor(data, torch.tensor([True, True, False]), requires_grad=True)
loss = x.log().sum()  # here
loss.backward()
