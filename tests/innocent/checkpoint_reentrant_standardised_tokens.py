# Reentrant checkpointing of blocks with a safe norm and padded tokens
# expect: silence
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Standardise(nn.Module):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = Standardise()
        self.mix = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mix(self.norm(x))


class Encoder(nn.Module):
    def __init__(self, vocabulary=20, dim=16, depth=3):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim, padding_idx=0)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return self.head(x.mean(1))


def batches(steps, generator):
    for step in range(steps):
        tokens = torch.randint(1, 20, (8, 6), generator=generator)
        labels = (tokens.sum(1) > 57).long()
        if step >= 6:
            tokens[3, 4:] = 0
        yield tokens, labels


def main():
    torch.manual_seed(0)
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    history = []
    for tokens, labels in batches(12, torch.Generator().manual_seed(3)):
        optimizer.zero_grad()
        loss = criterion(model(tokens), labels)
        loss.backward()
        optimizer.step()
        history.append(round(loss.item(), 4))
    print(history)


main()
