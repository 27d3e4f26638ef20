"""stats: the numbers of an array, or of every array in a nest."""

import numpy as np

import nanscope

print(nanscope.stats(np.array([0.0, -1.5, np.inf]), "x"))
for path, found in nanscope.stats({"a": np.ones(3), "b": [np.zeros(2)]}, "batch").items():
    print(path, found.shape, found.mean)
