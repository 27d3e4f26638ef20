# A float32 bound meets float16 activations: the bound is rounded to inf
# expect: error
# phase: forward
# op: aten::maximum
# line: 10
# cause: half_overflow
import torch

activations = torch.ones(4, dtype=torch.float16)
bounded = torch.maximum(activations, torch.tensor(70000.0))
print(bounded.sum())
