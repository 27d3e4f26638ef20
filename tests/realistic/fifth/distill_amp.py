"""Knowledge distillation with fp16 autocast and a gradient scaler on the CPU."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def spirals(n, gen, classes=3):
    y = torch.randint(0, classes, (n,), generator=gen)
    r = torch.rand(n, generator=gen) * 0.9 + 0.1
    t = r * 4.0 + y * (2 * torch.pi / classes) + 0.15 * torch.randn(n, generator=gen)
    pts = torch.stack([r * t.cos(), r * t.sin()], 1)
    lift = torch.cat([pts, pts ** 2, pts[:, :1] * pts[:, 1:], r[:, None]], 1)
    return lift * 2.0, y


def mlp(inp, hidden, out, depth):
    layers, d = [], inp
    for _ in range(depth):
        layers += [nn.Linear(d, hidden), nn.ReLU()]
        d = hidden
    return nn.Sequential(*layers, nn.Linear(d, out))


def train_teacher(x, y, steps=250):
    net = mlp(6, 96, 3, 2)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(steps):
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"teacher loss {loss.item():.4f}")
    return net.eval()


def distill_loss(student_logits, teacher_logits, temp, sharpen):
    """KL(teacher || student); sharp teachers may give probabilities of exactly 0."""
    p = F.softmax(teacher_logits * sharpen / temp, dim=1)
    logq = F.log_softmax(student_logits / temp, dim=1)
    kl = torch.xlogy(p, p) - p * logq
    return kl.sum(dim=1).mean() * temp ** 2


@torch.no_grad()
def entropy_report(logits):
    """Entropy of the teacher; log(0) is removed again."""
    p = F.softmax(logits * 8.0, dim=1)
    plogp = p * p.log()
    plogp = torch.where(p > 0, plogp, torch.zeros_like(p))
    return -plogp.sum(1).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--temp", type=float, default=2.0)
    ap.add_argument("--alpha", type=float, default=0.7)
    ap.add_argument("--sharpen", type=float, default=30.0)
    ap.add_argument("--init-scale", type=float, default=2.0 ** 26)
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()

    torch.manual_seed(10)
    gen = torch.Generator().manual_seed(10)
    x, y = spirals(1500, gen)
    xt, yt = spirals(400, gen)
    teacher = train_teacher(x, y)
    with torch.no_grad():
        t_logits = teacher(x)
    print(f"teacher entropy {entropy_report(t_logits):.5f}")

    student = mlp(6, 32, 3, 2)
    opt = torch.optim.AdamW(student.parameters(), lr=4e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=args.init_scale, growth_interval=400)
    skipped = 0

    for epoch in range(args.epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(50):
            opt.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                logits = student(x[idx])
            logits = logits.float()
            soft = distill_loss(logits, t_logits[idx], args.temp, args.sharpen)
            hard = F.cross_entropy(logits, y[idx])
            loss = args.alpha * soft + (1 - args.alpha) * hard
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(student.parameters(), 5.0)
            before = scaler.get_scale()
            scaler.step(opt)
            scaler.update()
            skipped += int(scaler.get_scale() < before)
            total += loss.item() * len(idx)
        with torch.no_grad():
            acc = (student(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {total / len(x):.4f} acc {acc:.3f} "
              f"scale {scaler.get_scale():.0f} skipped {skipped}")


if __name__ == "__main__":
    main()
