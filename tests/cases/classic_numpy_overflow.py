# NumPy's overflow handed over by torch.tensor, printed
# expect: error
# phase: data
# op: numpy::exp
# line: 12
# cause: exp_overflow
import numpy as np
import torch

energy = np.array([10.0, 50.0, 100.0], dtype=np.float32)
with np.errstate(over="ignore"):
    boltzmann = np.exp(energy)
weights = torch.tensor(boltzmann)
total = (0.5 * weights).sum()
print("total", total.item())
