# SAC log-det term with a scaled action: log of a negative number
# expect: error
# phase: forward
# op: aten::log
# line: 13
# cause: log_of_negative
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
raw = torch.tensor([[0.3, 2.0]], requires_grad=True)
max_action = 2.0
action = torch.tanh(raw) * max_action
logp = -0.5 * raw.pow(2)
logp = logp - torch.log(1 - action.pow(2) + 1e-6)
loss = logp.sum()
loss.backward()
out = dict(action=action, logp=logp, grad=raw.grad)
