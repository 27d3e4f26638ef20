# The old typed storage, element by element
# expect: error
# harm: buffer
# modes: exact sentinel
import warnings

import torch

warnings.simplefilter("ignore")
net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3) * 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
net.scale.storage()[1] = (torch.ones(()) - 2).log().item()
