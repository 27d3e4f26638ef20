# A jagged nested tensor: a log of zero inside
# expect: error
# modes: exact sentinel
import torch

values = torch.tensor([1.0, 2.0, 0.0, 3.0], requires_grad=True)
opt = torch.optim.SGD([values], lr=0.1)
ragged = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 1, 4]))
ragged.log().values().sum().backward()  # here
opt.step()
