"""Generates bracket strings under a grammar; forbidden symbols have probability zero."""
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, OPEN, CLOSE, END = range(4)
NEG = float("-inf")


def strings(n, g, length=12):
    rows = torch.full((n, length + 2), PAD)
    for r in range(n):
        depth, body = 0, []
        for i in range(length):
            room = length - i
            if depth == 0:
                s = OPEN
            elif depth >= room:
                s = CLOSE
            else:
                s = OPEN if torch.rand(1, generator=g) < 0.5 else CLOSE
            depth += 1 if s == OPEN else -1
            body.append(s)
            if depth == 0 and torch.rand(1, generator=g) < 0.4:
                break
        body += [CLOSE] * depth
        body = body[:length] + [END]
        rows[r, 1:len(body) + 1] = torch.tensor(body)
    return rows


def allowed_next(prefix):
    """What may follow: never PAD; END only at depth 0 after something; CLOSE only inside."""
    depth = ((prefix == OPEN).long() - (prefix == CLOSE).long()).cumsum(1)
    ended = (prefix == END).cumsum(1) > 0
    mask = torch.zeros(*prefix.shape, 4)
    mask[..., PAD] = NEG
    mask[..., CLOSE].masked_fill_(depth <= 0, NEG)
    started = (prefix == OPEN).cumsum(1) > 0
    mask[..., END].masked_fill_((depth > 0) | ~started, NEG)
    mask[ended] = NEG
    mask[..., PAD].masked_fill_(ended, 0.0)
    return mask


class Decoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(4, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, 4)

    def forward(self, prefix):
        h, _ = self.rnn(self.embed(prefix))
        return F.log_softmax(self.out(h) + allowed_next(prefix), dim=-1)


@torch.no_grad()
def beam(model, width=3, steps=14):
    score = torch.tensor([0.0] + [NEG] * (width - 1))
    seqs = torch.zeros(width, 1, dtype=torch.long)
    for _ in range(steps):
        total = score[:, None] + model(seqs)[:, -1]
        score, flat = total.flatten().topk(width)
        seqs = torch.cat([seqs[flat // 4], (flat % 4)[:, None]], 1)
    return seqs[0], score


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(6)
    rows = strings(200, g)
    model = Decoder()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(5):
        total = 0.0
        for part in torch.randperm(len(rows)).split(20):
            batch = rows[part]
            logp = model(batch[:, :-1])
            picked = logp.gather(-1, batch[:, 1:, None]).squeeze(-1)
            loss = -picked.sum() / (batch[:, 1:] != PAD).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        best, score = beam(model)
        text = "".join(".()$"[i] for i in best.tolist())
        print(f"epoch {epoch} nll {total / 10:.4f} beam {text} {score.tolist()}")


if __name__ == "__main__":
    main()
