# NumPy's sqrt(-1) handed over by torch.tensor
# expect: error
# phase: data
# op: numpy::sqrt
# line: 13
# cause: unknown | sqrt_of_negative
import numpy as np
import torch


def load():
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.array([[4.0, -1.0], [9.0, 16.0]]))


x = torch.tensor(load(), dtype=torch.float32)
w = torch.ones(2, 1, requires_grad=True)
loss = (x @ w).mean()
loss.backward()
print(loss.item(), w.grad)
