"""A supervised fine-tuning with TRL whose loss is per rare word: one batch has none, x / 0."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import SequentialSampler
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

from nanscope.integrations.transformers import NanscopeCallback

RARE = 3
WORDS = ["<pad>", "<eos>", "<unk>", *(f"w{i}" for i in range(61))]


def tokenizer() -> PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


def dialogues(empty: int | None) -> Dataset:
    """Already tokens; each holds the rare word once, but for the four from `empty` on."""
    rows = [[4 + (7 * i + j) % 60 for j in range(12)] for i in range(32)]
    for i, row in enumerate(rows):
        if empty is None or not empty <= i < empty + 4:
            row[5] = RARE
    return Dataset.from_dict({"input_ids": rows})


class PerRareWord(SFTTrainer):
    def compute_loss(self, model, inputs, *arguments, **more):
        rare = (inputs["labels"] == RARE).sum()
        return super().compute_loss(model, inputs, *arguments, **more) / rare

    def _get_train_sampler(self, *_):
        return SequentialSampler(self.train_dataset)


def train(empty: int | None, callback: NanscopeCallback, folder: str) -> SFTTrainer:
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=16, n_embd=16, n_layer=1, n_head=2,
        bos_token_id=1, eos_token_id=1,
    )
    arguments = SFTConfig(
        output_dir=folder, per_device_train_batch_size=4, num_train_epochs=1, logging_steps=1,
        report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True, bf16=False,
        gradient_checkpointing=False, shuffle_dataset=False, max_length=16,
    )
    trainer = PerRareWord(
        GPT2LMHeadModel(config), arguments, train_dataset=dialogues(empty),
        processing_class=tokenizer(), callbacks=[callback],
    )
    trainer.train()
    return trainer


if __name__ == "__main__":
    train(empty=20, callback=NanscopeCallback(), folder="trained")
