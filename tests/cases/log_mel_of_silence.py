# Log-mel features of silence, then mean normalisation
# expect: error
# phase: forward
# op: aten::log
# line: 11
# cause: log_of_zero | inf_minus_inf
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
spec = torch.rand(2, 5)
spec[1] = 0.0                             # a silent clip
logmel = torch.log(spec)
feat = (logmel - logmel.mean(1, keepdim=True)) / (logmel.std(1, keepdim=True) + 1e-5)
lin = nn.Linear(5, 1)
loss = lin(feat).pow(2).mean()
loss.backward()
stats = dict(logmel1=logmel[1], feat1=feat[1], loss=loss)
