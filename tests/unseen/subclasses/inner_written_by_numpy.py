# NumPy writes the memory inside a wrapped parameter
# expect: error
# harm: parameter
# modes: exact sentinel
import numpy
import torch
from wrappers import Flat

inner = torch.ones(100) * 2
p = torch.nn.Parameter(Flat(inner))
view = inner.numpy()
opt = torch.optim.SGD([p], lr=0.1)
p.sum().backward()
opt.step()
view[3] = numpy.inf - numpy.inf
