# torch.func: MAML in pure functional style; exp of a log-variance overflows in an inner step, inside vmap
# expect: error
# phase: forward
# op: aten::exp
# line: 27
# cause: exp_overflow | learning_rate_divergence
import torch
from torch.func import grad, grad_and_value, vmap


def init(generator, hidden=12):
    return {
        "w1": torch.randn(1, hidden, generator=generator) * 0.5,
        "b1": torch.zeros(hidden),
        "w2": torch.randn(hidden, 2, generator=generator) * 0.1,
        "b2": torch.zeros(2),
    }


def forward(params, x):
    h = torch.tanh(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def gaussian_nll(params, x, y):
    mean, log_variance = forward(params, x).chunk(2, dim=-1)
    precision = torch.exp(-log_variance)
    return 0.5 * (precision * (y - mean).square() + log_variance).mean()


def adapt(params, x, y, rate):
    gradients = grad(gaussian_nll)(params, x, y)
    return {k: v - rate * gradients[k] for k, v in params.items()}


def meta_loss(params, support, query, rate):
    def task(xs, ys, xq, yq):
        return gaussian_nll(adapt(params, xs, ys, rate), xq, yq)

    return vmap(task)(*support, *query).mean()


def tasks(count, generator):
    phase = torch.rand(count, 1, 1, generator=generator) * 3
    x = torch.rand(count, 10, 1, generator=generator) * 4 - 2
    return (x[:, :5], torch.sin(x[:, :5] + phase)), (x[:, 5:], torch.sin(x[:, 5:] + phase))


def main():
    generator = torch.Generator().manual_seed(0)
    params = init(generator)
    for step in range(30):
        support, query = tasks(4, generator)
        if step == 12:  # one sensor of the newest tasks reports raw counts
            support = (support[0], support[1] * torch.tensor([1.0, 30.0, 1.0, 1.0]).view(4, 1, 1))
        gradients, loss = grad_and_value(meta_loss)(params, support, query, 0.5)
        params = {k: v - 0.05 * gradients[k] for k, v in params.items()}
        print(f"{step:2d} {loss.item():.4f}")


if __name__ == "__main__":
    main()
