"""A transformers Trainer whose loss divides by the number of labels: one document has none."""

import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments

from nanscope.integrations.transformers import NanscopeCallback


class Documents(torch.utils.data.Dataset):
    def __init__(self, empty: int | None) -> None:
        torch.manual_seed(0)
        words = torch.randint(5, 60, (32, 12))
        labels = (words > 30).long()
        if empty is not None:
            labels[empty : empty + 4] = -100
        self.rows = [{"input_ids": i, "labels": j} for i, j in zip(words, labels, strict=True)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict:
        return self.rows[index]


class InOrder(Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def train(empty: int | None, callback: NanscopeCallback, folder: str) -> Trainer:
    config = BertConfig(
        vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, num_labels=2,
    )
    arguments = TrainingArguments(
        output_dir=folder, per_device_train_batch_size=4, num_train_epochs=2, logging_steps=1,
        report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True,
    )
    model = BertForTokenClassification(config)
    trainer = InOrder(model, arguments, train_dataset=Documents(empty), callbacks=[callback])
    trainer.train()
    return trainer


if __name__ == "__main__":
    train(empty=20, callback=NanscopeCallback(), folder="trained")
