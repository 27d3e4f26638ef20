# Optimizer subclass with in-place ops and no eps: the belief variance of a frozen gradient becomes zero
# expect: error
# phase: optimizer
# op: aten::div | aten::div_ | aten::addcdiv_
# line: 37
# cause: optimizer_division_by_zero | division_by_zero
import math

import torch
from torch import nn
from torch.optim import Optimizer


class Belief(Optimizer):
    def __init__(self, params, lr=1e-2, betas=(0.5, 0.5)):
        super().__init__(params, dict(lr=lr, betas=betas))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p)
                    state["belief"] = torch.zeros_like(p)
                state["step"] += 1
                mean, belief = state["mean"], state["belief"]
                mean.lerp_(p.grad, 1 - beta1)
                surprise = p.grad - mean
                belief.mul_(beta2).addcmul_(surprise, surprise, value=1 - beta2)
                scale = group["lr"] * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
                update = mean.clone()
                update.div_(belief.sqrt())
                p.add_(update, alpha=-scale)


class Tagger(nn.Module):
    """A bag of words; word 0 is the unknown word."""

    def __init__(self, words=12, dim=6, tags=3):
        super().__init__()
        self.words = nn.EmbeddingBag(words, dim, mode="sum")
        self.head = nn.Linear(dim, tags)

    def forward(self, ids):
        return self.head(self.words(ids))


def main():
    torch.manual_seed(0)
    model = Tagger()
    optimizer = Belief(model.parameters())
    generator = torch.Generator().manual_seed(5)
    for step in range(250):
        low = 0 if step < 10 else 1  # the cleaned corpus has no unknown words
        ids = torch.stack([torch.cat([torch.randperm(12 - low, generator=generator)[:11] + low]) for _ in range(8)])
        tags = ids[:, 0] % 3
        loss = nn.functional.cross_entropy(model(ids), tags)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
