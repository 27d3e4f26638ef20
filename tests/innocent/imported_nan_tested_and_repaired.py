# A table with missing values from NumPy, tested and repaired: nothing is trained
# expect: silence
import numpy as np
import torch

table = np.ones((6, 4), dtype=np.float32)
table[2, 1] = np.nan
data = torch.from_numpy(table)
missing = torch.isnan(data)
filled = torch.nan_to_num(data, nan=0.0)
means = filled.sum(0) / (~missing).sum(0)
print(means.tolist(), int(missing.sum()))
