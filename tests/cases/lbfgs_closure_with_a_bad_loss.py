# LBFGS: the loss of the closure is infinite
# expect: error
# phase: forward
# op: aten::log
# line: 15
# cause: log_of_zero
import torch
theta = torch.tensor([0.5, -0.3], dtype=torch.float64, requires_grad=True)
opt = torch.optim.LBFGS([theta], lr=1.0, max_iter=5)

def make_closure(t):
    def closure():
        opt.zero_grad()
        r = (theta * t).sum()
        obj = -((1 - r).log())
        obj.backward()
        return obj
    return closure

print(opt.step(make_closure(torch.tensor([2.0, 0.0], dtype=torch.float64))))
