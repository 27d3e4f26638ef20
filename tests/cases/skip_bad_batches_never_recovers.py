# Bad batches are skipped, but from the end of the annealing on every batch is bad: it never trains again
# expect: error
# phase: forward
# op: aten::div
# line: 26
# cause: division_by_zero
import torch
import torch.nn.functional as F
from torch import nn


class SoftAssignment(nn.Module):
    def __init__(self, dim=4, slots=5, total=10):
        super().__init__()
        self.keys = nn.Parameter(torch.randn(slots, dim))
        self.values = nn.Linear(slots, 3)
        self.total = total
        self.progress = 0

    @property
    def temperature(self):
        return max(0.0, 1.0 - self.progress / self.total)

    def forward(self, x):
        scores = x @ self.keys.t()
        weights = F.softmax(scores / self.temperature, dim=-1)
        return self.values(weights)


def main():
    torch.manual_seed(0)
    model = SoftAssignment()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(7)
    trained = skipped = 0
    for step in range(25):
        model.progress = step
        x = torch.randn(16, 4, generator=generator)
        y = x[:, :3].argmax(-1)
        loss = F.cross_entropy(model(x), y)
        if not torch.isfinite(loss):
            skipped += 1
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trained += 1
    print(f"trained on {trained} batches, skipped {skipped}")


if __name__ == "__main__":
    main()
