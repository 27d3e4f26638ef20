"""A tiny language model: left-padded batch, additive mask, sampling with top-k, top-p and banned tokens."""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, PAD = 30, 0


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x, keep):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        length = x.shape[1]
        causal = torch.triu(torch.full((length, length), float("-inf")), diagonal=1)
        scores = scores + causal
        scores = scores.masked_fill(~keep.unsqueeze(1), float("-inf"))
        dead = torch.isinf(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(dead, 0.0)
        return x + self.out(scores.softmax(-1) @ v)


class TinyLM(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.blocks = nn.ModuleList([Block(d), Block(d)])
        self.head = nn.Linear(d, VOCAB)

    def forward(self, tokens):
        keep = tokens != PAD
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, keep)
        return self.head(x)


def batch(n, g):
    length = 10
    tokens = torch.randint(1, VOCAB, (n, length), generator=g)
    for row in range(n):
        tokens[row, : row % 5] = PAD
    return tokens


@torch.no_grad()
def sample(model, tokens, g, steps=6, k=8, p=0.9):
    for _ in range(steps):
        logits = model(tokens)[:, -1]
        logits[:, PAD] = -torch.inf
        kth = logits.topk(k).values[:, -1:]
        logits = torch.where(logits < kth, -torch.inf, logits)
        order = logits.sort(descending=True)
        mass = order.values.softmax(-1).cumsum(-1)
        cut = torch.where(mass - order.values.softmax(-1) > p, -torch.inf, order.values)
        logits = torch.full_like(logits, -torch.inf).scatter(1, order.indices, cut)
        surprise = -logits.log_softmax(-1)
        print("largest surprise", surprise.max().item(), "kept", int(torch.isfinite(surprise).sum()))
        tokens = torch.cat([tokens, torch.multinomial(logits.softmax(-1), 1, generator=g)], dim=1)
    return tokens


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(5)
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(15):
        tokens = batch(12, g)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print("loss", loss.item())
    print(sample(model, batch(3, g), g)[0].tolist())


if __name__ == "__main__":
    main()
