"""check: the value itself, or an error that says which element of which leaf is bad."""

import torch

import nanscope

logits = nanscope.check(torch.randn(2, 3), "logits")  # comes back as it is
try:
    nanscope.check({"loss": 0.5, "states": [logits, logits / 0]}, "out")
except nanscope.CheckFailed as error:
    print(error)
    print("the path:", error.path)

try:
    nanscope.check(torch.tensor([0.5, 0.7]), "p", probabilities=True)
except nanscope.CheckFailed as error:
    print(error)
