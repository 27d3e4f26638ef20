# Missing data on purpose: isnan / nan_to_num / nanmean
# expect: silence
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.tensor([[1.0, float('nan')], [3.0, 4.0], [float('nan'), 8.0]])
ind = torch.isnan(x).float()
mu = x.nanmean(0)
filled = torch.nan_to_num(x - mu, nan=0.0)
lin = nn.Linear(4, 1)
loss = lin(torch.cat([filled, ind], 1)).pow(2).mean()
loss.backward()
out = dict(mu=mu, loss=loss, grad=lin.weight.grad)
