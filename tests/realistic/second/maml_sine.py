"""Second-order MAML on sinusoid regression (functional weights)."""
import argparse
import math

import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def init_params(sizes, gen):
    params = []
    for i, o in zip(sizes[:-1], sizes[1:]):
        w = torch.randn(o, i, generator=gen) * math.sqrt(2.0 / i)
        params += [w.requires_grad_(), torch.zeros(o, requires_grad=True)]
    return params


def forward(params, x):
    n = len(params) // 2
    for k in range(n):
        x = F.linear(x, params[2 * k], params[2 * k + 1])
        if k < n - 1:
            x = F.relu(x)
    return x


class SineTasks:
    def __init__(self, gen, amp=(0.1, 5.0), x_range=5.0):
        self.gen, self.amp, self.x_range = gen, amp, x_range

    def u(self, lo, hi, n=1):
        return lo + (hi - lo) * torch.rand(n, 1, generator=self.gen)

    def sample(self, k):
        a, ph = self.u(*self.amp), self.u(0, math.pi)
        x = self.u(-self.x_range, self.x_range, 2 * k)
        y = a * torch.sin(x + ph)
        return (x[:k], y[:k]), (x[k:], y[k:])


def mse(params, batch):
    x, y = batch
    err = forward(params, x) - y
    return (err * err).mean()


def adapt(params, support, inner_lr, steps, create_graph=True):
    for _ in range(steps):
        loss = mse(params, support)
        grads = torch.autograd.grad(loss, params, create_graph=create_graph)
        params = [p - inner_lr * g for p, g in zip(params, grads)]
    return params


def evaluate(params, tasks, args, n=10):
    pre, post = 0.0, 0.0
    for _ in range(n):
        support, query = tasks.sample(args.k)
        pre += mse(params, query).item() / n
        fast = adapt(params, support, args.inner_lr, args.inner_steps, create_graph=False)
        post += mse(fast, query).item() / n
    return pre, post


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=30)
    ap.add_argument("--meta-batch", type=int, default=3)
    ap.add_argument("--k", type=int, default=10)
    ap.add_argument("--inner-lr", type=float, default=0.015)
    ap.add_argument("--inner-steps", type=int, default=5)
    ap.add_argument("--meta-lr", type=float, default=1e-3)
    ap.add_argument("--hidden", type=int, default=32)
    args = ap.parse_args()

    gen = torch.Generator().manual_seed(31)
    tasks = SineTasks(gen)
    params = init_params([1, args.hidden, args.hidden, 1], gen)
    opt = torch.optim.Adam(params, lr=args.meta_lr)
    for it in range(args.iters):
        opt.zero_grad()
        meta_loss = 0.0
        for _ in range(args.meta_batch):
            support, query = tasks.sample(args.k)
            fast = adapt(params, support, args.inner_lr, args.inner_steps)
            meta_loss = meta_loss + mse(fast, query)
        meta_loss = meta_loss / args.meta_batch
        meta_loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 10.0)
        opt.step()
        if it % 5 == 0:
            print(f"iter {it:3d} meta loss {meta_loss.item():.5g}")
    pre, post = evaluate(params, tasks, args)
    print(f"eval: pre-adapt {pre:.4f}, post-adapt {post:.4f}")


if __name__ == "__main__":
    main()
