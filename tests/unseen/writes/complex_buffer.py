# A buffer of complex numbers, as of rotary embeddings
# expect: error
# harm: buffer
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
net.register_buffer("turns", torch.polar(torch.ones(3), torch.arange(3.0)))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    opt.step()
    if i:
        net.turns.div_(torch.zeros(3))  # here
