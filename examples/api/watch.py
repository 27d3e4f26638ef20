"""watch: the first operation that made a NaN or Inf, for a block of your own code."""

import torch

import nanscope

weight = torch.nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD([weight], lr=0.1)

try:
    with nanscope.watch() as w:
        loss = torch.sqrt(weight).sum()  # fine in forward; its slope at 0 is infinite
        loss.backward()
        optimizer.step()
except nanscope.NonFiniteError as error:
    print(error)
    print(w.finding.cause.id, "at line", w.finding.origin.site.line)
