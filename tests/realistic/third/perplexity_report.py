"""A character model whose perplexity is infinite at first: a metric, nothing else."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the slow hound " * 8


class CharRNN(nn.Module):
    def __init__(self, vocab, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)
        nn.init.normal_(self.out.weight, std=40.0)   # badly scaled, as inherited

    def forward(self, ids, state=None):
        y, state = self.rnn(self.embed(ids), state)
        return self.out(y), state


@torch.no_grad()
def report(model, ids):
    logits, _ = model(ids[None, :-1])
    nll = F.cross_entropy(logits[0], ids[1:], reduction="none")
    perplexity = torch.exp(nll.mean())
    worst = torch.exp(nll).max()
    bits = nll.mean().item() / math.log(2)
    return {"bits": bits, "perplexity": perplexity.item(), "worst": worst.item()}


@torch.no_grad()
def sample(model, vocab, start, length, top_k=3):
    ids, state, out = torch.tensor([[start]]), None, []
    for _ in range(length):
        logits, state = model(ids, state)
        logits = logits[0, -1]
        cut = logits.topk(top_k).values[-1]
        logits = logits.masked_fill(logits < cut, -float("inf"))
        ids = torch.multinomial(logits.softmax(-1), 1)[None]
        out.append(vocab[ids.item()])
    return "".join(out)


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    vocab = sorted(set(TEXT))
    ids = torch.tensor([vocab.index(c) for c in TEXT])
    model = CharRNN(len(vocab))
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    history = [report(model, ids)]
    best = float("inf")
    for epoch in range(12):
        for i in range(0, len(ids) - 33, 32):
            chunk = ids[i:i + 33]
            logits, _ = model(chunk[None, :-1])
            loss = F.cross_entropy(logits[0], chunk[1:])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
        history.append(report(model, ids))
        if history[-1]["perplexity"] < best:
            best = history[-1]["perplexity"]
        print(f"epoch {epoch:2d} loss {loss.item():.3f} ppl {history[-1]['perplexity']:.4g}"
              f" worst {history[-1]['worst']:.4g}")
    print("start:", history[0])
    print("sample:", sample(model, vocab, 0, 30), "best", f"{best:.4g}")


if __name__ == "__main__":
    main()
