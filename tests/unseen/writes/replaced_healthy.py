# Buffers and parameters that change hands in every step, and are well
# expect: clean
# modes: exact sentinel
import copy

import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("scale", torch.ones(3))
shadow = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
    net.scale.data = net.scale * 0.9
    for ours, theirs in zip(shadow.parameters(), net.parameters(), strict=True):
        ours.data = ours.data * 0.9 + theirs.data * 0.1
    shadow._buffers["scale"] = net.scale.clone()
    shadow.load_state_dict(net.state_dict(), assign=True)
    net.scale.untyped_storage().copy_(torch.ones(3).untyped_storage())
    net.weight.detach().view(torch.int32).bitwise_and_(-2)
