"""Distils a large tagger into a small one; each word has a dictionary of allowed tags."""
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class Data(NamedTuple):
    words: torch.Tensor
    allowed: torch.Tensor
    teacher: torch.Tensor


def make_data(sentences=96, length=10, vocab=50, tags=7, seed=13):
    g = torch.Generator().manual_seed(seed)
    dictionary = torch.rand(vocab, tags, generator=g) < 0.5
    dictionary[torch.arange(vocab), torch.randint(0, tags, (vocab,), generator=g)] = True
    words = torch.randint(0, vocab, (sentences, length), generator=g)
    allowed = dictionary[words]
    scores = torch.randn(vocab, tags, generator=g)[words] * 2
    teacher = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    return Data(words, allowed, teacher)


class Tagger(nn.Module):
    def __init__(self, vocab, tags, width=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.out = nn.Linear(width, tags)

    def forward(self, words, allowed):
        x = self.embed(words)
        x = x + F.gelu(self.mix(x.transpose(1, 2))).transpose(1, 2)
        return self.out(x).masked_fill(~allowed, float("-inf"))


def distillation(student_logits, teacher_probabilities):
    logp = F.log_softmax(student_logits, dim=-1)
    return F.kl_div(logp.flatten(0, 1), teacher_probabilities.flatten(0, 1), reduction="batchmean")


def agreement(model, data):
    with torch.no_grad():
        guess = model(data.words, data.allowed).argmax(-1)
    return (guess == data.teacher.argmax(-1)).float().mean().item()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = make_data()
    model = Tagger(50, 7)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(8):
        for rows in torch.randperm(len(data.words)).split(16):
            logits = model(data.words[rows], data.allowed[rows])
            loss = distillation(logits, data.teacher[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} kl {loss.item():.4f} agreement {agreement(model, data):.3f}")


if __name__ == "__main__":
    main()
