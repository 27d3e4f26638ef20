# GPT with causal masks: left padding leaves the first rows without any key
# expect: error
# phase: forward
# op: aten::_softmax | aten::softmax
# line: 31
# cause: all_masked_softmax
import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F

PAD, VOCAB = 0, 24


class Attention(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("bias", torch.triu(torch.full((block, block), float("-inf")), diagonal=1))

    def forward(self, x, pad):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(c, dim=2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores = scores + self.bias[:t, :t]
        scores = scores.masked_fill(pad[:, None, None, :], float("-inf"))
        weights = scores.softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, block):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads, block)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, pad):
        x = x + self.attn(self.ln1(x), pad)
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, width=16, heads=2, block=12, layers=2):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, width), nn.Embedding(block, width)
        self.blocks = nn.ModuleList(Block(width, heads, block) for _ in range(layers))
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        pad = ids == PAD
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x, pad)
        return self.head(self.ln(x))


def collate(sequences, side):
    length = max(len(s) for s in sequences)
    batch = torch.full((len(sequences), length), PAD)
    for row, s in zip(batch, sequences):
        if side == "right":
            row[: len(s)] = s
        else:
            row[-len(s) :] = s
    return batch


def batches(steps, side):
    for step in range(steps):
        lengths = [10, 10, 10, 10] if step < 3 else [10, 7, 10, 4]
        yield collate([torch.randint(1, VOCAB, (n,)) for n in lengths], side)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--padding-side", default="left")
    args = parser.parse_args()
    torch.manual_seed(1)
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step, ids in enumerate(batches(args.steps, args.padding_side)):
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
