# MaskedTensor hides what is masked: a NaN there is nothing
# expect: clean | unknown
# modes: exact sentinel
import warnings

import torch
from torch.masked import masked_tensor

warnings.simplefilter("ignore")
data = torch.tensor([1.0, 2.0, 3.0])
x = masked_tensor(data, torch.tensor([True, True, False]), requires_grad=True)
x.log().sum().backward()
