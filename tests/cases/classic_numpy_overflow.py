# NumPy's overflow handed over by torch.tensor, printed
# expect: error
# phase: data
# op: aten::lift_fresh | aten::_to_copy | aten::copy_
# line: 13
# cause: bad_input_data
import numpy as np
import torch

energy = np.array([10.0, 50.0, 100.0], dtype=np.float32)
with np.errstate(over="ignore"):
    boltzmann = np.exp(energy)
weights = torch.tensor(boltzmann)
total = (0.5 * weights).sum()
print("total", total.item())
