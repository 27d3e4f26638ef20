# a block compiled once, called for every layer
# expect: error
# line: 20
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
    def forward(self, x):
        return torch.log(self.linear(x).relu())
blocks = nn.ModuleList([Block() for _ in range(2)])
for block in blocks:
    block.compile()
x = torch.randn(4, 8)
for block in blocks:
    x = block(x)
step(x.sum(), *blocks.parameters())
