# EMA teacher: the sharpening temperature is annealed down to exactly zero
# expect: error
# phase: forward
# op: aten::div
# line: 40
# cause: division_by_zero
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Ema:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.model = copy.deepcopy(model).eval()
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1.0 - self.decay)
        for mine, theirs in zip(self.model.buffers(), model.buffers()):
            mine.copy_(theirs)


class Distiller:
    def __init__(self, student, epochs, start=0.1, end=0.0):
        self.student = student
        self.teacher = Ema(student)
        self.temperatures = torch.linspace(start, end, epochs).tolist()
        self.center = torch.zeros(8)
        self.optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)

    @torch.no_grad()
    def targets(self, view, epoch):
        logits = self.teacher.model(view)
        sharpened = (logits - self.center) / self.temperatures[epoch]
        self.center = 0.9 * self.center + 0.1 * logits.mean(0)
        return F.softmax(sharpened, dim=-1)

    def epoch(self, loader, epoch):
        total = 0.0
        for view_a, view_b in loader:
            targets = self.targets(view_a, epoch)
            log_probabilities = F.log_softmax(self.student(view_b) / 0.1, dim=-1)
            loss = -(targets * log_probabilities).sum(-1).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.teacher.update(self.student)
            total += loss.item()
        return total / len(loader)


def main():
    torch.manual_seed(0)
    student = nn.Sequential(nn.Linear(10, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 8))
    base = torch.randn(64, 10)
    loader = [(b + 0.1 * torch.randn_like(b), b + 0.1 * torch.randn_like(b)) for b in base.split(16)]
    distiller = Distiller(student, epochs=6)
    for epoch in range(6):
        print(f"epoch {epoch}: {distiller.epoch(loader, epoch):.4f}")


if __name__ == "__main__":
    main()
