# torch.func: DP-SGD; clip / norm is inf for a sample without gradient and is clamped to 1
# expect: silence
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


def clip(gradients, bound):
    flat = torch.cat([g.flatten(1) for g in gradients.values()], dim=1)
    factor = (bound / flat.norm(dim=1)).clamp(max=1.0)
    return {name: torch.einsum("n,n...->...", factor, g) / len(factor) for name, g in gradients.items()}


def main():
    torch.manual_seed(0)
    model = Margin()
    xs = torch.randn(24, 3)
    ys = torch.sign(xs[:, 0] + 0.1)
    params = {name: p.detach() for name, p in model.named_parameters()}
    for step in range(80):
        gradients = clip(per_sample(model, params, xs, ys), bound=0.5)
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.add_(gradients[name] + 1e-4 * torch.randn_like(p), alpha=-0.5)
        if step % 20 == 0:
            margin = (ys * model(xs)).mean().item()
            print(f"step {step}: mean margin {margin:.3f}")


if __name__ == "__main__":
    main()
