# The norm of an embedding row that is zero, with sparse gradients
# expect: error
# phase: backward
# op: aten::div
# line: 11
# cause: sqrt_gradient_at_zero
import torch
e = torch.nn.Embedding(5, 2, sparse=True); opt = torch.optim.SparseAdam(e.parameters())
with torch.no_grad(): e.weight[3] = 0
v = e(torch.tensor([1, 3]))
l = v.pow(2).sum(-1).sqrt().sum()
l.backward(); opt.step(); print(e.weight.isnan().any())
