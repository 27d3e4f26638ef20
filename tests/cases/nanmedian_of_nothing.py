# A column that is missing everywhere: the median that should fill it is nan
# expect: error
# phase: forward
# op: aten::nanmedian
# line: 13
# cause: empty_reduction
import torch
torch.manual_seed(0)
x = torch.randn(6, 3)
x[1, 0] = float("nan")
x[:, 2] = float("nan")
missing = torch.isnan(x)
fill = x.nanmedian(dim=0).values
x = torch.where(missing, fill, x)
net = torch.nn.Linear(3, 1)
loss = net(x).pow(2).mean()
loss.backward()
out = dict(loss=loss, grad=net.weight.grad)
