# LogSigmoid after ReLU: odd, but finite
# expect: silence
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.LogSigmoid(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = torch.randn(64, 10) * 50
target = data.sum(dim=1, keepdim=True).sign()
for epoch in range(20):
    optimizer.zero_grad()
    loss = ((model(data) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
print("final loss:", loss.item())
