"""Linear 90 % quantile of house prices (thousands), full batch, own centred RMSprop."""
import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer


class CenteredRMS(Optimizer):
    """RMSprop which divides by an estimate of the gradient's standard deviation."""

    def __init__(self, params, lr=1e-3, alpha=0.9, eps=1e-5, momentum=0.0):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps, momentum=momentum))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            a = group["alpha"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                st = self.state[p]
                if not st:
                    st["sq"] = torch.zeros_like(p)
                    st["avg"] = torch.zeros_like(p)
                    st["buf"] = torch.zeros_like(p)
                g = p.grad
                st["sq"].mul_(a).addcmul_(g, g, value=1 - a)
                st["avg"].mul_(a).add_(g, alpha=1 - a)
                denom = (st["sq"] - st["avg"] * st["avg"]).sqrt() + group["eps"]
                st["buf"].mul_(group["momentum"]).add_(g / denom)
                p.add_(st["buf"], alpha=-group["lr"])
        return loss


def load_houses(n=512, seed=0):
    rng = np.random.default_rng(seed)
    area = rng.uniform(0.4, 2.6, n)
    rooms = rng.integers(1, 8, n) / 4.0
    age = rng.uniform(0.0, 1.0, n)
    dist = rng.gamma(2.0, 0.4, n)
    extra = rng.uniform(0.1, 1.3, size=(n, 6))
    price = 2500 + 700 * area + 90 * rooms - 120 * age - 40 * dist + rng.gamma(2, 60, n)
    x = np.column_stack([area, rooms, age, dist, extra]).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(price.astype(np.float32))


def pinball(pred, target, q):
    diff = target - pred
    return torch.maximum(q * diff, (q - 1) * diff).mean()


def main():
    torch.manual_seed(0)
    x, y = load_houses()
    n_train = 400
    xt, yt, xv, yv = x[:n_train], y[:n_train], x[n_train:], y[n_train:]
    model = nn.Linear(x.shape[1], 1)
    opt = CenteredRMS(model.parameters(), lr=1e-4)
    best, history = float("inf"), []

    for step in range(800):
        def closure():
            opt.zero_grad()
            loss = pinball(model(xt).squeeze(1), yt, 0.9)
            loss.backward()
            return loss

        loss = opt.step(closure)
        history.append(loss.item())
        if step % 50 == 0:
            with torch.no_grad():
                pv = model(xv).squeeze(1)
                val = pinball(pv, yv, 0.9).item()
                cover = (yv <= pv).float().mean().item()
            best = min(best, val)
            print(f"step {step:4d} train {loss.item():.3f} val {val:.3f} coverage {cover:.2f}")
    print(f"best validation {best:.3f}, last train {history[-1]:.3f}")


if __name__ == "__main__":
    main()
