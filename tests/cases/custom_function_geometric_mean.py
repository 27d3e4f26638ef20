# Custom autograd.Function: a geometric mean whose hand-written backward divides by an input that is zero
# expect: error
# phase: backward
# op: aten::div
# line: 24
# cause: division_by_zero
import torch
from torch import nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class GeometricMean(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.prod(dim=-1).pow(1.0 / x.size(-1))
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        share = y.unsqueeze(-1) / x
        return grad_output.unsqueeze(-1) * share / x.size(-1)


class Pooled(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.conv = nn.Conv1d(2, channels, 3)
        self.fc = nn.Linear(channels, 2)

    def forward(self, x):
        voiced = x.abs().sum(1, keepdim=True)[..., 2:] > 0  # a gap in the recording counts as zero
        return self.fc(GeometricMean.apply(torch.sigmoid(self.conv(x)) * voiced))


def fit(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.3f}")
    return losses


def main():
    torch.manual_seed(0)
    x = torch.rand(10, 8, 2, 8)
    x[5:, 0, :, 5:] = 0.0  # the later recordings end early
    y = (x[:, :, 0].mean(-1) > 0.5).long()
    print(fit(Pooled(), list(zip(x, y))))


if __name__ == "__main__":
    main()
