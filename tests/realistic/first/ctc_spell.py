"""CTC 'speech' recogniser: every letter is a noisy burst of frames."""
import argparse
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

LETTERS = "_abcdefgh"  # 0 is the blank


class Speech(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rnd = random.Random(seed)
        g = torch.Generator().manual_seed(seed)
        proto = torch.randn(len(LETTERS), 12, generator=torch.Generator().manual_seed(77))
        self.items = []
        for i in range(n):
            word = [rnd.randrange(1, len(LETTERS)) for _ in range(rnd.randint(2, 5))]
            fast = i % 25 == 7
            frames = []
            for c in word:
                frames += [c] * (1 if fast else rnd.randint(3, 5)) + [0] * (0 if fast else rnd.randint(1, 2))
            if fast:
                word = word + word[-1:] * 3
            x = proto[frames] + 0.3 * torch.randn(len(frames), 12, generator=g)
            # log energy floor as in the recorder's firmware
            x[:, 0] = x[:, 0].clamp(min=0).add(1e-3).log()
            self.items.append((x, torch.tensor(word)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    xs, ys = zip(*batch)
    xl = torch.tensor([len(x) for x in xs])
    yl = torch.tensor([len(y) for y in ys])
    return pad_sequence(xs, batch_first=True), torch.cat(ys), xl, yl


class Acoustic(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.conv = nn.Conv1d(12, hidden, 3, padding=1)
        self.rnn = nn.GRU(hidden, hidden, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(2 * hidden, len(LETTERS))

    def forward(self, x):
        h = F.relu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        return F.log_softmax(self.fc(self.rnn(h)[0]), dim=-1)


def logaddexp(*xs):
    m = max(xs)
    return -math.inf if m == -math.inf else m + math.log(sum(math.exp(x - m) for x in xs))


def prefix_beam(logp, beam=3):
    """CTC prefix beam search; each prefix keeps (log p ending in blank, log p ending in symbol)"""
    beams = {(): (0.0, -math.inf)}
    for frame in logp.tolist():
        nxt = {}
        for prefix, (pb, pnb) in beams.items():
            for c, p in enumerate(frame):
                b, nb = nxt.get(prefix, (-math.inf, -math.inf))
                if c == 0:
                    nxt[prefix] = (logaddexp(b, pb + p, pnb + p), nb)
                    continue
                if prefix and prefix[-1] == c:
                    nxt[prefix] = (b, logaddexp(nb, pnb + p))
                    ext_p = pb + p
                else:
                    ext_p = logaddexp(pb, pnb) + p
                eb, enb = nxt.get(prefix + (c,), (-math.inf, -math.inf))
                nxt[prefix + (c,)] = (eb, logaddexp(enb, ext_p))
        beams = dict(sorted(nxt.items(), key=lambda kv: -logaddexp(*kv[1]))[:beam])
    return max(beams.items(), key=lambda kv: logaddexp(*kv[1]))[0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=1.5e-2)
    args = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Speech(80, 0), batch_size=10, shuffle=True, collate_fn=collate)
    test = [it for i, it in enumerate(Speech(10, 1)) if i != 7]
    model = Acoustic()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    for epoch in range(args.epochs):
        total, too_short = 0.0, 0
        for x, y, xl, yl in loader:
            logp = model(x).transpose(0, 1)
            loss = ctc(logp, y, xl, yl)
            opt.zero_grad(); loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            with torch.no_grad():
                each = F.ctc_loss(logp, y, xl, yl, blank=0, reduction="none")
                too_short += int(torch.isinf(each).sum())
            total += loss.item()
        print(f"epoch {epoch} ctc {total / len(loader):.4f} (unalignable utterances: {too_short})")
    model.eval()
    with torch.no_grad():
        hits = sum(prefix_beam(model(x[None])[0]) == tuple(y.tolist()) for x, y in test)
    print(f"exact words {hits}/{len(test)}")


if __name__ == "__main__":
    main()
