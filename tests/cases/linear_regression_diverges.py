# Linear regression on unscaled inputs diverges with lr=1e-3
# expect: error
# phase: forward
# op: aten::mse_loss | aten::mean
# line: 15
# cause: learning_rate_divergence | float_overflow
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.arange(200.).unsqueeze(1); y = 2 * x
lin = nn.Linear(1, 1)
opt = torch.optim.SGD(lin.parameters(), lr=1e-3)
hist = []
for step in range(40):
    opt.zero_grad()
    loss = F.mse_loss(lin(x), y)
    loss.backward(); opt.step()
    hist.append(loss.item())
out = dict(first=hist[0], step5=hist[5], last=torch.tensor(hist[-1]), weight=lin.weight)
