# PPO/GRPO importance ratio exp(logp - old_logp) overflows, then 0 * Inf
# expect: error
# phase: forward
# op: aten::exp
# line: 13
# cause: exp_overflow | zero_times_inf
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
logp = torch.tensor([[-1.0, -2.0, -0.5]], requires_grad=True)
old = torch.tensor([[-1.1, -1.9, -120.0]])
adv = torch.tensor([[0.5, -0.2, 0.7]])
mask = torch.tensor([[1.0, 1.0, 0.0]])              # last token is padding
ratio = torch.exp(logp - old)
loss = -(ratio * adv * mask).sum() / mask.sum()
loss.backward()
out = dict(ratio=ratio, loss=loss, grad=logp.grad)
