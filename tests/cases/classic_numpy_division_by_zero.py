# NumPy's 1/0 handed over by from_numpy
# expect: error
# phase: data
# op: numpy::divide
# line: 12
# cause: division_by_zero
import numpy as np
import torch

counts = np.array([4.0, 0.0, 2.0], dtype=np.float32)
with np.errstate(divide="ignore"):
    weights = 1 / counts
weights = torch.from_numpy(weights)
scaled = weights * 3.0
print(scaled.sum())
