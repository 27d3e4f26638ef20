# A batch in which every target is of a class that weighs nothing
# expect: error
# phase: forward
# op: aten::nll_loss_forward | aten::nll_loss | aten::nll_loss_nd | aten::cross_entropy_loss
# line: 12
# cause: empty_reduction
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 3)
criterion = torch.nn.CrossEntropyLoss(weight=torch.tensor([0.0, 1.0, 3.0]))
for target in (torch.tensor([0, 1, 2]), torch.tensor([0, 0, 0])):
    loss = criterion(net(torch.randn(3, 4)), target)
    net.zero_grad()
    loss.backward()
out = dict(loss=loss, grad=net.weight.grad)
