# A softmax by hand in a checkpointed block: exp overflows, seen when it is computed again
# expect: error
# phase: forward
# op: aten::exp
# line: 15
# cause: exp_overflow
import torch
from torch.utils.checkpoint import checkpoint
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
    def forward(self, x):
        h = self.lin(x)
        e = torch.exp(h * 40)
        return e / e.sum(-1, keepdim=True)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x):
        return checkpoint(self.block, x, use_reentrant=False)
torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for s in range(3):
    x = torch.ones(2, 4) * (1 if s < 2 else 20)
    loss = net(x)[:, 0].sum()
    opt.zero_grad(); loss.backward(); opt.step()
    print(s, loss.item())
