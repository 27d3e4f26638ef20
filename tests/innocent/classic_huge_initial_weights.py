# Weights from uniform(-100, 100): large, but finite
# expect: silence
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 20)
        self.fc2 = nn.Linear(20, 20)
        self.fc3 = nn.Linear(20, 1)
        for layer in (self.fc1, self.fc2, self.fc3):
            nn.init.uniform_(layer.weight, -100, 100)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


torch.manual_seed(0)
net = Net()
x, y = torch.randn(8, 10), torch.randn(8, 1)
out = net(x)
loss = nn.functional.mse_loss(out, y)
loss.backward()
print("loss", loss.item())
print("largest gradient", max(p.grad.abs().max().item() for p in net.parameters()))
