# Momentum 1 and a single value per channel: the unbiased variance is a division by zero
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

bn = torch.nn.BatchNorm1d(3)
x = torch.randn(1, 3)
opt = torch.optim.SGD(bn.parameters(), lr=0.1)
y = torch.ops.aten.native_batch_norm(  # here
    x, bn.weight, bn.bias, bn.running_mean, bn.running_var, True, 0.1, 1e-5
)
(y[0] * 0 + bn.weight).sum().backward()
opt.step()
