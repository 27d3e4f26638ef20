# Angular softmax layer whose weight was left at zero
# expect: error
# phase: forward
# op: aten::div
# line: 12
# cause: bad_initialisation | division_by_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
W = nn.Parameter(torch.zeros(3, 2))                  # reset_parameters() never called
x = torch.randn(4, 3)
logit = x @ W
cos = logit / (x.norm(dim=1, keepdim=True) * W.norm(dim=0, keepdim=True))
loss = F.cross_entropy(cos, torch.tensor([0, 1, 0, 1]))
loss.backward()
result = dict(cos=cos[0], loss=loss, grad=W.grad)
