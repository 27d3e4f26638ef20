# Degenerate ground-truth box encoded with log(w_gt / w_anchor)
# expect: error
# phase: forward
# op: aten::log
# line: 13
# cause: log_of_zero | bad_input_data
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
anchors = torch.tensor([[0.0, 0.0, 10.0, 10.0]])
gt = torch.tensor([[0.0, 0.0, 0.0, 0.0]])           # bad label
pred = torch.zeros(1, 2, requires_grad=True)
wh = lambda b: b[:, 2:] - b[:, :2]
target = torch.log(wh(gt) / wh(anchors))
loss = F.mse_loss(pred, target)
loss.backward()
stats = dict(target=target, loss=loss, grad=pred.grad)
