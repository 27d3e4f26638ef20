"""numpy_errors: the first NumPy operation that made a NaN or Inf, its operands and why."""

import numpy as np

import nanscope

weights = np.array([2.0, 0.0, 1.0])
with nanscope.numpy_errors(on_find="report") as block:
    scores = np.log(weights[:2])
print(block.finding.cause.sentence)
