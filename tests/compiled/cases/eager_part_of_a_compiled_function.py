# the compiler gives up on a function that makes a leaf: its ops are eager, with dynamo switched on
# expect: error
# line: 13
# op: aten::div
# phase: forward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def program():
    def train():
        logvar = torch.tensor([-2.0, -120.0], requires_grad=True)
        err = torch.tensor([0.5, 0.3])
        nll = logvar + err / torch.exp(logvar)
        nll.mean().backward()
        return logvar.grad
    print(train())
torch.compile(program)()
