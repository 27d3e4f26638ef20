# The backward of an LSTM writes its workspace: nothing of the program's
# expect: clean
# modes: exact sentinel
import torch

lstm = torch.nn.LSTM(4, 8)
opt = torch.optim.SGD(lstm.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    lstm(torch.randn(5, 2, 4))[0].sum().backward()
    opt.step()
