# weight_norm divides by the length of a weight that was initialised to 0
# expect: error
# phase: forward
# op: aten::_weight_norm_interface
# line: 13
# cause: bad_initialisation
import torch
from torch.nn.utils.parametrizations import weight_norm

head = torch.nn.Linear(4, 3)
torch.nn.init.zeros_(head.weight)
head = weight_norm(head)
loss = head(torch.ones(2, 4)).square().mean()
loss.backward()
torch.optim.SGD(head.parameters(), lr=0.1).step()
