"""The Trainer of transformers on two ranks; the loss of one of them divides by zero."""

import torch
from torch import nn
from transformers import Trainer, TrainingArguments

RANK = int(__import__("os").environ.get("RANK", "0"))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)
        self.steps = 0

    def forward(self, x, labels=None):
        self.steps += 1
        count = torch.tensor(0.0 if RANK == 1 and self.steps == 3 else 2.0)
        return {"loss": self.net(x).square().sum() / count}  # origin


if __name__ == "__main__":
    torch.manual_seed(0)
    data = [{"x": torch.randn(4), "labels": torch.zeros(1)} for _ in range(32)]
    arguments = TrainingArguments(
        output_dir="trained",
        use_cpu=True,
        max_steps=6,
        per_device_train_batch_size=2,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
    )
    Trainer(Model(), arguments, train_dataset=data).train()
