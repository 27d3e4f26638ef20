# Log-space dynamic programming: alpha starts at -inf, result and gradients finite
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
trans = torch.log_softmax(torch.randn(3, 3), -1)
emit = torch.randn(4, 3, requires_grad=True)
alpha = torch.full((3,), float('-inf')); alpha[0] = 0.0
for t in range(4):
    alpha = torch.logsumexp(alpha[:, None] + trans, dim=0) + emit[t]
loss = -torch.logsumexp(alpha, 0)
loss.backward()
result = dict(loss=loss, grad=emit.grad)
