# Gradient accumulation: the flush at the end of the epoch finds no tokens
# expect: error
# phase: forward | optimizer
# op: aten::div_ | aten::div
# line: 61
# cause: division_by_zero
"""Language-model fine-tuning with token-weighted gradient accumulation."""
import argparse

import torch
import torch.nn as nn

IGNORED = -100


class Model(nn.Module):
    def __init__(self, vocabulary=20, width=12):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids):
        return self.head(self.norm(self.rnn(self.embed(ids))[0]))


def micro_batches(count):
    """Prompt tokens are not trained on; the third batch is all prompt."""
    generator = torch.Generator().manual_seed(2)
    for i in range(count):
        ids = torch.randint(0, 20, (2, 7), generator=generator)
        labels = ids.roll(-1, dims=1)
        labels[:, :3] = IGNORED
        if i == 2:
            labels[:] = IGNORED
        yield ids, labels


class Accumulator:
    """Sums the gradients of several micro-batches, then steps once on their mean per token."""

    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every
        self.pending = self.tokens = self.steps = 0

    def add(self, ids, labels):
        logits = self.model(ids)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        loss.backward()
        self.pending += 1
        self.tokens += int((labels != IGNORED).sum())
        if self.pending == self.every:
            self.flush()
        return loss.item()

    def flush(self):
        for p in self.model.parameters():
            p.grad.div_(self.tokens)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        self.pending = self.tokens = 0
        self.steps += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--micro-batches", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    accumulator = Accumulator(model, optimizer, args.every)
    for epoch in range(2):
        total = sum(accumulator.add(*batch) for batch in micro_batches(args.micro_batches))
        accumulator.flush()  # what is left of the epoch
        print(f"epoch {epoch}: {total:.2f} after {accumulator.steps} steps")


if __name__ == "__main__":
    main()
