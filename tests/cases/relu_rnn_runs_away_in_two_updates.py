# A recurrent net with a learning rate of 0.5: its weights are a thousand times larger after two updates
# expect: error
# phase: forward
# op: aten::addmm
# line: 20
# cause: learning_rate_divergence
import torch
import torch.nn as nn

torch.manual_seed(1)
rnn = nn.RNN(4, 32, nonlinearity="relu", batch_first=True)
head = nn.Linear(32, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.5)
hidden = None
for step in range(300):
    x = torch.randn(8, 40, 4)
    y = x.sum((1, 2)).unsqueeze(1)
    if hidden is not None:
        hidden = hidden.detach()
    out, hidden = rnn(x, hidden)
    loss = ((head(out[:, -1]) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not torch.isfinite(loss):
        break
