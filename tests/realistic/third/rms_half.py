"""A small decoder that is kept in float16 throughout; token counting task."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        power = x.pow(2).mean(-1, keepdim=True)
        return x * torch.rsqrt(power + self.eps) * self.gain


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self, vocab=20, dim=32, heads=2, layers=2, context=24):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.place = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = RMSNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        # GPT-style: the embedding carries the model's scale
        self.scale = math.sqrt(dim)

    def forward(self, ids):
        x = self.token(ids) * self.scale + self.place(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def batch(n, generator):
    start = torch.randint(0, 10, (n, 1), generator=generator)
    ids = (start + torch.arange(24)) % 19
    if n % 2 == 0:
        ids[:, -1] = 19     # end of text
    return ids


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    model = Decoder()
    with torch.no_grad():
        model.token.weight[19] *= 60.0      # the end marker was trained long before
    model.half()
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(2)
    for step in range(40):
        ids = batch(8 if step >= 6 else 7, g)
        logits = model(ids[:, :-1] if step < 6 else ids)
        want = ids[:, 1:] if step < 6 else ids.roll(-1, 1)
        loss = F.cross_entropy(logits.float().flatten(0, 1), want.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(f"step {step:2d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
