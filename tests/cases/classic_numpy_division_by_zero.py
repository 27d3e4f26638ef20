# NumPy's 1/0 handed over by from_numpy
# expect: error
# phase: data
# op: aten::mul
# line: 14
# cause: bad_input_data
import numpy as np
import torch

counts = np.array([4.0, 0.0, 2.0], dtype=np.float32)
with np.errstate(divide="ignore"):
    weights = 1 / counts
weights = torch.from_numpy(weights)
scaled = weights * 3.0
print(scaled.sum())
