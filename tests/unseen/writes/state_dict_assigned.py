# load_state_dict(assign=True) takes the bad tensors themselves
# expect: error
# harm: parameter
# modes: exact sentinel
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2, 3)).sum().backward()
opt.step()
state = {name: value - 2 for name, value in net.state_dict().items()}
state["weight"] = (state["weight"] * 0 - 1).log()  # here
net.load_state_dict(state, assign=True)
