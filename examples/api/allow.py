"""allow: what is made non-finite in the block is meant, and is no error."""

import torch

import nanscope

weight = torch.nn.Parameter(torch.zeros(3))
with nanscope.watch(on_find="report") as seen:
    with nanscope.allow("the weights of absent classes are infinite"):
        weights = 1 / torch.tensor([2.0, 0.0, 1.0])
    loss = (weight * weights).sum()
    loss.backward()
print([(finding.level, finding.allowed) for finding in seen.findings])
