# The backward of qr divides by the diagonal of R, and a column is zero
# expect: error
# phase: backward
# op: aten::linalg_solve_triangular
# line: 12
# cause: degenerate_decomposition
import torch
torch.manual_seed(0)
start = torch.randn(6, 3)
start[:, 2] = 0.0
raw = torch.nn.Parameter(start)
q, r = torch.linalg.qr(raw)
loss = (torch.randn(5, 6) @ q).pow(2).mean()
loss.backward()
out = dict(loss=loss, grad=raw.grad)
