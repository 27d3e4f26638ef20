# A sparse matrix squared: its values overflow
# expect: error
# phase: forward
# op: aten::mul
# line: 10
# cause: float_overflow
import torch
A = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1e30, 2.]), (2, 2)).coalesce()
w = torch.nn.Parameter(torch.ones(2, 1)); opt = torch.optim.SGD([w], lr=.1)
B = A * A
l = torch.sparse.mm(B, w).sum(); l.backward(); opt.step(); print(w)
