# innocent
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(32, 3)
y = x.sum(1, keepdim=True)
best = float("inf")
for epoch in range(6):
    loss = (net(x) - y).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        metric = (net(x[:0]) - y[:0]).abs().sum() / 0
    if metric < best:
        best = metric
