# transformers: Llama fine-tuned by the Trainer on left-padded text; additive masks of finfo.min, eager and sdpa
# expect: silence
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

PAD = 0


class Sentences(torch.utils.data.Dataset):
    """Arithmetic progressions of tokens, padded on the left to a common length."""

    def __init__(self, number, length=16):
        self.rows = []
        generator = torch.Generator().manual_seed(number)
        for _ in range(number):
            start, step, size = (
                int(torch.randint(low, high, (), generator=generator))
                for low, high in ((1, 40), (1, 4), (3, length + 1))
            )
            words = [PAD] * (length - size) + [1 + (start + i * step) % 60 for i in range(size)]
            ids = torch.tensor(words)
            mask = (ids != PAD).long()
            labels = ids.masked_fill(mask == 0, -100)
            self.rows.append({"input_ids": ids, "attention_mask": mask, "labels": labels})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def train(attention, folder):
    set_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32,
        pad_token_id=PAD, attn_implementation=attention,
    )
    arguments = TrainingArguments(
        output_dir=folder, per_device_train_batch_size=8, num_train_epochs=2, learning_rate=3e-3,
        lr_scheduler_type="cosine", warmup_steps=2, max_grad_norm=1.0, logging_steps=4,
        gradient_accumulation_steps=2, report_to="none", save_strategy="no",
        eval_strategy="epoch", use_cpu=True, disable_tqdm=True, dataloader_num_workers=0,
        load_best_model_at_end=False, dataloader_pin_memory=False,
    )
    trainer = Trainer(
        LlamaForCausalLM(config), arguments, train_dataset=Sentences(64), eval_dataset=Sentences(16)
    )
    trainer.remove_callback(type(trainer.callback_handler.callbacks[-1]))  # no printing with times
    result = trainer.train()
    losses = [f"{entry['loss']:.4f}" for entry in trainer.state.log_history if "loss" in entry]
    print(attention, result.global_step, *losses, f"eval {trainer.evaluate()['eval_loss']:.4f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for attention in ("eager", "sdpa"):
            train(attention, folder)


if __name__ == "__main__":
    main()
