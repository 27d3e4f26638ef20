# The data are wrapped, and hold a NaN that nobody made
# expect: error
# kind: imported
# modes: exact sentinel
import numpy
import torch
from wrappers import Flat

table = numpy.ones((6, 3), dtype=numpy.float32)
table[4, 1] = numpy.nan
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for rows in torch.from_numpy(table).split(2):
    batch = Flat(rows)
    opt.zero_grad()
    model(batch).sum().backward()  # here
    opt.step()
