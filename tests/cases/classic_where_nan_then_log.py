# torch.where(x > 0, x, nan), then log, printed
# expect: error
# phase: forward | data
# op: aten::where | aten::scalar_tensor
# line: 10
# cause: nan_constant
import torch

x = torch.tensor([2.0, -1.0, 0.5, -3.0])
positive = torch.where(x > 0, x, float("nan"))
y = torch.log(positive)
print(y)
