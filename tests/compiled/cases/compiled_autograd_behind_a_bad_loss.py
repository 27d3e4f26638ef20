# born in the forward; the compiled backward reads what the compiled forward kept
# expect: error
# line: 15
# op: aten::log
# phase: forward
# cause: log_of_negative | log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
import torch._dynamo
torch._dynamo.config.compiled_autograd = True
net = nn.Linear(16, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
@torch.compile
def train(x):
    h = torch.log(net(x))
    loss = h.square().mean()
    loss.backward()
    return loss
for i in range(2):
    optimizer.zero_grad()
    train(torch.randn(8, 16))
    optimizer.step()
