# torch.func: per-sample gradients are divided by their norm, one sample has no gradient at all
# expect: error
# phase: forward
# op: aten::div
# line: 40
# cause: division_by_zero
import torch
from torch import nn
from torch.func import functional_call, grad, vmap


class Margin(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def sample_loss(params, model, x, y):
    score = functional_call(model, params, (x.unsqueeze(0),)).squeeze(0)
    return torch.relu(1 - y * score)


def per_sample(model, params, xs, ys):
    def one(p, x, y):
        return sample_loss(p, model, x, y)

    return vmap(grad(one), in_dims=(None, 0, 0))(params, xs, ys)


def normalise(gradients):
    """Every sample gets the same vote: unit-length gradients, averaged."""
    flat = torch.cat([g.flatten(1) for g in gradients.values()], dim=1)
    norms = flat.norm(dim=1)
    out = {}
    for name, g in gradients.items():
        shape = (-1,) + (1,) * (g.dim() - 1)
        out[name] = (g / norms.view(shape)).mean(0)
    return out


def main():
    torch.manual_seed(0)
    model = Margin()
    xs = torch.randn(24, 3)
    ys = torch.sign(xs[:, 0] + 0.1)
    params = {name: p.detach() for name, p in model.named_parameters()}
    for step in range(60):
        gradients = normalise(per_sample(model, params, xs, ys))
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.add_(gradients[name], alpha=-0.05)
        if step % 10 == 0:
            margin = (ys * model(xs)).mean().item()
            print(f"step {step}: mean margin {margin:.3f}")


if __name__ == "__main__":
    main()
