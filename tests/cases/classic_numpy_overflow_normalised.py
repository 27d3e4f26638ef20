# NumPy's overflow handed over by torch.tensor, then inf / inf: made of the Inf that NumPy made
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
boltzmann = torch.tensor(boltzmann)
probability = boltzmann / boltzmann.sum()
print(probability)
