# Hand-written LARS: the hinge loss reaches zero, so the trust ratio divides by a zero gradient norm
# expect: error
# phase: optimizer | forward
# op: aten::div
# line: 28
# cause: division_by_zero | optimizer_division_by_zero
import torch
from torch import nn


class Lars:
    """Layer-wise adaptive rate scaling, after You et al. 2017."""

    def __init__(self, parameters, lr, momentum=0.9, trust=0.02):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.lr, self.momentum, self.trust = lr, momentum, trust
        self.velocity = [torch.zeros_like(p) for p in self.parameters]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p, v in zip(self.parameters, self.velocity):
            if p.grad is None:
                continue
            ratio = self.trust * p.norm() / p.grad.norm()
            v.mul_(self.momentum).add_(p.grad * ratio)
            p.sub_(v, alpha=self.lr)


def hinge(scores, labels):
    return torch.clamp(1 - labels * scores, min=0).mean()


def make_data(count):
    x = torch.randn(count, 2)
    y = torch.where(x[:, 0] > 0, 1.0, -1.0)
    x[:, 0] += 2 * y
    return x, y


def main():
    torch.manual_seed(0)
    x, y = make_data(64)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = Lars(model.parameters(), lr=1.0)
    for step in range(300):
        optimizer.zero_grad()
        loss = hinge(model(x).squeeze(-1), y)
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"{step:3d} {loss.item():.5f}")


if __name__ == "__main__":
    main()
