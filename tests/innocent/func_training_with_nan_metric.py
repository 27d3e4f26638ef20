# torch.func training in pure functional style; a correlation is NaN on a constant column and only printed
# expect: silence
import torch
from torch.func import grad_and_value


def init(generator):
    return {"w": torch.randn(4, 2, generator=generator) * 0.1, "b": torch.zeros(2)}


def predict(params, x):
    return x @ params["w"] + params["b"]


def loss_fn(params, x, y):
    return (predict(params, x) - y).square().mean()


def correlation(prediction, target):
    """Pearson's r per column; not defined for a constant column."""
    p = prediction - prediction.mean(0)
    t = target - target.mean(0)
    return (p * t).sum(0) / (p.norm(dim=0) * t.norm(dim=0))


def main():
    generator = torch.Generator().manual_seed(0)
    params = init(generator)
    x = torch.randn(50, 4, generator=generator)
    y = torch.stack([x[:, 0] - x[:, 1], torch.ones(50)], dim=1)  # the second target never varies
    step = grad_and_value(loss_fn)
    for epoch in range(20):
        gradients, loss = step(params, x, y)
        params = {name: value - 0.2 * gradients[name] for name, value in params.items()}
        if epoch % 5 == 4:
            r = correlation(predict(params, x), y)
            print(f"epoch {epoch} loss {loss.item():.4f} r {r[0].item():.3f} {r[1].item():.3f}")


if __name__ == "__main__":
    main()
