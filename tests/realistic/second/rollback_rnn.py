"""LSTM sequence model with a training guard: snapshot, detect bad steps, roll back, lower the lr.

The telemetry feed drops packets now and then (they arrive as NaN), and the guard has to survive that.
"""
import argparse
import copy
import math

import torch
from torch import nn

torch.set_num_threads(1)


def telemetry(n_batches, batch, length, gen, drop_every):
    for b in range(n_batches):
        phase = torch.rand(batch, 1, generator=gen) * 6.28
        t = torch.arange(length + 1) * 0.4
        x = torch.sin(t + phase) + 0.05 * torch.randn(batch, length + 1, generator=gen)
        if drop_every and b % drop_every == drop_every - 1:
            x[0, length // 2] = float("nan")
        yield x[:, :-1, None], x[:, 1:]


class SeqModel(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h).squeeze(-1)


class Guard:
    """Keeps the last good state of model and optimizer."""

    def __init__(self, model, opt, every=5):
        self.model, self.opt, self.every = model, opt, every
        self.rollbacks = 0
        self.save(0)

    def save(self, step):
        self.snapshot = copy.deepcopy((self.model.state_dict(), self.opt.state_dict()))
        self.step = step

    def healthy(self):
        return all(torch.isfinite(p).all() for p in self.model.parameters())

    def check(self, step):
        if not self.healthy():
            m, o = self.snapshot
            self.model.load_state_dict(m)
            self.opt.load_state_dict(copy.deepcopy(o))
            for g in self.opt.param_groups:
                g["lr"] *= 0.8
            self.rollbacks += 1
            print(f"  step {step}: non-finite weights, back to step {self.step}, lr {self.opt.param_groups[0]['lr']:.4f}")
            return False
        if step % self.every == 0:
            self.save(step)
        return True


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--length", type=int, default=20)
    ap.add_argument("--hidden", type=int, default=16)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--drop-every", type=int, default=17)
    args = ap.parse_args()

    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(5)
    model = SeqModel(args.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    guard = Guard(model, opt)
    good = []
    for step, (x, y) in enumerate(telemetry(args.steps, args.batch, args.length, gen, args.drop_every), 1):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if guard.check(step):
            good.append(loss.item())
        if step % 10 == 0:
            print(f"step {step} loss {sum(good[-10:]) / len(good[-10:]):.4f} rollbacks {guard.rollbacks}")

    model.eval()
    with torch.no_grad():
        x, y = next(telemetry(1, 64, args.length, torch.Generator().manual_seed(9), 0))
        final = nn.functional.mse_loss(model(x), y).item()
    print(f"final mse {final:.4f} after {guard.rollbacks} rollbacks")
    assert math.isfinite(final) and guard.healthy()


if __name__ == "__main__":
    main()
