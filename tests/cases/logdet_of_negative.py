# A kernel that lost its exp is not positive definite: its determinant is negative
# expect: error
# phase: forward
# op: aten::logdet
# line: 11
# cause: singular_matrix
import torch
torch.manual_seed(0)
points = torch.tensor([[0.0], [1.0], [2.0]], requires_grad=True)
kernel = -(points - points.t()).pow(2) - torch.eye(3) * 1e-3
loss = torch.logdet(kernel)
loss.backward()
out = dict(loss=loss)
