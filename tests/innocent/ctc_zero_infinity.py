# CTC with zero_infinity=True: infinite sample loss is zeroed inside the op
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
logits = torch.randn(3, 2, 5, requires_grad=True)
targets = torch.tensor([[1, 2, 0, 0], [1, 1, 2, 2]])
loss = F.ctc_loss(logits.log_softmax(-1), targets, torch.tensor([3, 3]), torch.tensor([2, 4]), zero_infinity=True)
loss.backward()
out = dict(loss=loss, grad=logits.grad)
