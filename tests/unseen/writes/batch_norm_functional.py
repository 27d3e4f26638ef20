# F.batch_norm on tensors that are no buffers of any module: they are kept, and are bad at the end
# expect: error
# modes: exact
import torch

mean, var = torch.zeros(3), torch.ones(3)
x = torch.randn(4, 3)
x[0, 0] = 3e19
y = torch.nn.functional.batch_norm(x, mean, var, training=True)  # here
print(var)
