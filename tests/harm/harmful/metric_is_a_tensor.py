# error guard
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(32, 3)
y = x.sum(1, keepdim=True)
best, waited = float("inf"), 0
def error(a, b):
    return (a - b).abs().sum() / len(a)
for epoch in range(50):
    loss = (net(x) - y).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        metric = error(net(x[:0]), y[:0])
    if metric < best:
        best, waited = metric, 0
    else:
        waited += 1
    if waited > 3:
        break
