# NumPy's overflow handed over by torch.tensor, then inf / inf: the division made the NaN
# expect: error
# phase: forward
# op: aten::div
# line: 14
# cause: inf_minus_inf | zero_times_inf | bad_input_data
import numpy as np
import torch

energy = np.array([10.0, 50.0, 100.0], dtype=np.float32)
with np.errstate(over="ignore"):
    boltzmann = np.exp(energy)
boltzmann = torch.tensor(boltzmann)
probability = boltzmann / boltzmann.sum()
print(probability)
