# Missing values are replaced by the mean of their column, and one column has no value at all
# expect: error
# phase: forward
# op: aten::div | aten::nanmean
# line: 10
# cause: empty_reduction
import torch
nan = float("nan")
x = torch.tensor([[1.0, nan], [nan, nan]])
x = torch.where(torch.isnan(x), torch.nanmean(x, 0), x)
w = torch.ones(2, requires_grad=True)
(x @ w).sum().backward()
torch.optim.SGD([w], 0.1).step()
