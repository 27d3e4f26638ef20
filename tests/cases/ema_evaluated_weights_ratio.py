# An EMA of the gradient second moment starts at zero and whitens a frozen layer's update: 0 / 0 in the EMA copy
# expect: error
# phase: forward | optimizer
# op: aten::div
# line: 32
# cause: division_by_zero
import copy

import torch
from torch import nn


class WeightedEma(nn.Module):
    """Fisher-weighted average of the weights: sum(F * w) / sum(F)."""

    def __init__(self, model):
        super().__init__()
        self.shadow = copy.deepcopy(model).requires_grad_(False)
        self.fisher = [torch.zeros_like(p) for p in model.parameters()]
        self.total = [torch.zeros_like(p) for p in model.parameters()]

    @torch.no_grad()
    def observe(self, model):
        for p, fisher, total in zip(model.parameters(), self.fisher, self.total):
            weight = p.grad.square()
            fisher.add_(weight)
            total.addcmul_(weight, p)

    @torch.no_grad()
    def publish(self):
        for p, fisher, total in zip(self.shadow.parameters(), self.fisher, self.total):
            p.copy_(total / fisher)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(10, 6), nn.Flatten(), nn.Linear(18, 2))
    ema = WeightedEma(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(20):
        words = torch.randint(0, 9, (8, 3))  # the last word of the vocabulary never occurs
        loss = nn.functional.cross_entropy(model(words), words[:, 0] % 2)
        optimizer.zero_grad()
        loss.backward()
        ema.observe(model)
        optimizer.step()
    ema.publish()
    with torch.no_grad():
        logits = ema.shadow(torch.randint(0, 10, (64, 3)))
    print(f"loss {loss.item():.4f}, averaged model says {logits.argmax(-1).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
