# Global contrast normalisation of a flat image
# expect: error
# phase: forward
# op: aten::div
# line: 13
# cause: division_by_zero | bad_input_data
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
imgs = torch.rand(3, 16)
imgs[1] = 1.0                             # blank image
def gcn(x):
    x = x - x.mean()
    return x / x.abs().mean()
batch = torch.stack([gcn(i) for i in imgs])
lin = nn.Linear(16, 1)
loss = lin(batch).pow(2).mean()
loss.backward()
result = dict(bad_rows=batch.isnan().any(1), loss=loss)
