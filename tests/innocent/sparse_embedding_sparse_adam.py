# Sparse embedding gradients with SparseAdam beside a dense Adam
# expect: silence
import torch
from torch import nn


class SkipGram(nn.Module):
    def __init__(self, words=40, dim=8):
        super().__init__()
        self.centre = nn.Embedding(words, dim, sparse=True)
        self.context = nn.Embedding(words, dim, sparse=True)
        self.bias = nn.Linear(dim, 1)

    def forward(self, centre, context, negatives):
        c = self.centre(centre)
        positive = (c * self.context(context)).sum(-1) + self.bias(c).squeeze(-1)
        negative = torch.einsum("nd,nkd->nk", c, self.context(negatives))
        return -(nn.functional.logsigmoid(positive).mean() + nn.functional.logsigmoid(-negative).mean())


def main():
    torch.manual_seed(0)
    model = SkipGram()
    sparse = torch.optim.SparseAdam([model.centre.weight, model.context.weight], lr=1e-2)
    dense = torch.optim.Adam(model.bias.parameters(), lr=1e-2)
    for step in range(20):
        centre = torch.randint(0, 40, (16,))
        context = (centre + torch.randint(1, 3, (16,))) % 40
        negatives = torch.randint(0, 40, (16, 5))
        loss = model(centre, context, negatives)
        sparse.zero_grad()
        dense.zero_grad()
        loss.backward()
        sparse.step()
        dense.step()
        if step % 5 == 0:
            print(f"{step} {loss.item():.4f}")


if __name__ == "__main__":
    main()
