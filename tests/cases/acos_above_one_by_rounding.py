# acos of 1.0000002 from float32 rounding
# expect: error
# phase: forward
# op: aten::acos
# line: 12
# cause: inverse_trig_domain
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
torch.manual_seed(8)
v = F.normalize(torch.randn(200, 3), dim=1)
cosang = (v * v).sum(1)                               # mathematically exactly 1
ang = torch.acos(cosang)
out = dict(max_cos=cosang.max() - 1, n_nan=ang.isnan().sum(), mean=ang.mean())
