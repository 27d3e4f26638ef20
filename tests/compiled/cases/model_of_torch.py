# a module of torch compiled by itself: no line of the program is inside
# expect: error
# line: 17
# op: aten::addmm
# phase: forward
# cause: float_overflow
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

net = torch.compile(nn.Linear(16, 16))
nn.init.constant_(net.weight, 10.0)
loss = net(torch.full((4, 16), 1e38)).sum()
step(loss, *net.parameters())
