"""Knowledge distillation with an annealed temperature."""
import argparse
import json

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


def spirals(n, k, gen):
    t = torch.rand(n, generator=gen)
    y = torch.randint(k, (n,), generator=gen)
    ang = 4 * t + 2 * torch.pi * y / k
    x = torch.stack([t * ang.cos(), t * ang.sin()], 1) + 0.03 * torch.randn(n, 2, generator=gen)
    return 3 * x, y


def net(width, depth, k):
    mods = [nn.Linear(2, width), nn.ReLU()]
    for _ in range(depth - 1):
        mods += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*mods, nn.Linear(width, k))


class TemperatureSchedule:
    """Linear annealing from t_max at the first epoch to t_min at the last one."""

    def __init__(self, t_max, t_min, epochs):
        self.t_max, self.t_min, self.epochs = t_max, t_min, epochs

    def __call__(self, epoch):
        frac = epoch / (self.epochs - 1)
        return self.t_max + frac * (self.t_min - self.t_max)


def kd_loss(student_logits, teacher_logits, labels, T, alpha):
    soft_t = teacher_logits.div(T).softmax(-1)
    log_s = student_logits.div(T).log_softmax(-1)
    kd = F.kl_div(log_s, soft_t, reduction="batchmean") * T * T
    return alpha * kd + (1 - alpha) * F.cross_entropy(student_logits, labels)


def fit_teacher(teacher, x, y, steps=80):
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(teacher(x), y).backward()
        opt.step()
    return teacher.eval().requires_grad_(False)


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch-size", type=int, default=100)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--alpha", type=float, default=0.7)
    ap.add_argument("--t-max", type=float, default=8.0)
    ap.add_argument("--t-min", type=float, default=0.0)
    ap.add_argument("--out", default="distill_anneal.json")
    a = ap.parse_args()

    torch.manual_seed(42)
    gen = torch.Generator().manual_seed(7)
    x, y = spirals(800, 3, gen)
    xv, yv = spirals(300, 3, gen)
    teacher = fit_teacher(net(48, 3, 3), x, y)
    print(f"teacher val acc {accuracy(teacher, xv, yv):.3f}")

    student = net(12, 2, 3)
    opt = torch.optim.Adam(student.parameters(), lr=a.lr)
    sched = TemperatureSchedule(a.t_max, a.t_min, a.epochs)
    log = []
    for epoch in range(a.epochs):
        T = sched(epoch)
        total = 0.0
        for idx in torch.randperm(len(x)).split(a.batch_size):
            with torch.no_grad():
                tl = teacher(x[idx])
            loss = kd_loss(student(x[idx]), tl, y[idx], T, a.alpha)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        log.append(dict(epoch=epoch, T=T, loss=total / len(x), acc=accuracy(student, xv, yv)))
        print("epoch {epoch} T={T:.2f} loss={loss:.4f} val acc={acc:.3f}".format(**log[-1]))
    with open(a.out, "w") as fh:
        json.dump(log, fh)


if __name__ == "__main__":
    main()
