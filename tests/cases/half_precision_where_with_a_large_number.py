# A mask value that float16 cannot hold: where() rounds it to -inf, and the mean is gone
# expect: error
# phase: forward
# op: aten::scalar_tensor | aten::where
# line: 11
# cause: half_overflow
import torch

scores = torch.ones(2, 4, dtype=torch.float16)
keep = torch.tensor([[True, True, False, False], [True, True, True, True]])
masked = torch.where(keep, scores, -1e9)
print(masked.float().mean())
