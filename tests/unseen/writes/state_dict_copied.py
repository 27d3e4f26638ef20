# load_state_dict copies them
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
state = dict(net.state_dict())
state["weight"] = (state["weight"] * 0 - 1).log()  # here
net.load_state_dict(state)
