# transformers: generate() with every processor that writes -inf: top-k, top-p, bans, beams, forced tokens
# expect: silence
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessor, LogitsProcessorList, set_seed


class OnlyEven(LogitsProcessor):
    """A grammar: odd tokens may not be written."""

    def __call__(self, input_ids, scores):
        odd = torch.arange(scores.size(1)) % 2 == 1
        return scores.masked_fill(odd, float("-inf"))


def build():
    set_seed(0)
    config = GPT2Config(
        vocab_size=48, n_positions=40, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config)


def train(model, steps=12):
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    for step in range(steps):
        start = torch.randint(3, 40, (8, 1))
        ids = (start + torch.arange(12)) % 45 + 3
        loss = model(input_ids=ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"loss {loss.item():.4f}")


def main():
    model = build()
    train(model)
    model.eval()
    ids = torch.tensor([[0, 0, 5, 6, 7], [9, 10, 11, 12, 13]])
    mask = (ids != 0).long()
    prompt = {"input_ids": ids, "attention_mask": mask, "max_new_tokens": 10}
    ways = {
        "greedy": {"do_sample": False, "no_repeat_ngram_size": 2, "repetition_penalty": 1.3},
        "sample": {"do_sample": True, "top_k": 7, "top_p": 0.8, "temperature": 0.7, "min_new_tokens": 4},
        "typical": {"do_sample": True, "typical_p": 0.6, "top_k": 0, "min_p": 0.05},
        "cutoffs": {"do_sample": True, "epsilon_cutoff": 3e-3, "eta_cutoff": 3e-3, "top_k": 0},
        "beams": {
            "num_beams": 4, "num_return_sequences": 2, "early_stopping": True, "length_penalty": 0.6,
            "no_repeat_ngram_size": 2, "bad_words_ids": [[8], [14, 15]], "do_sample": False,
        },
        "beam sample": {"num_beams": 3, "do_sample": True, "top_k": 5},
        "forced": {"forced_eos_token_id": 2, "suppress_tokens": [3, 4, 5], "do_sample": False},
    }
    for name, options in ways.items():
        found = model.generate(**prompt, **options, return_dict_in_generate=True, output_scores=True)
        print(name, found.sequences[:, 5:].tolist())
        if name == "beams":
            print([f"{score:.3f}" for score in found.sequences_scores.tolist()])
    grammar = LogitsProcessorList([OnlyEven()])
    found = model.generate(
        **prompt, logits_processor=grammar, do_sample=True, top_k=0, renormalize_logits=True,
        return_dict_in_generate=True, output_scores=True,
    )
    chosen = model.compute_transition_scores(found.sequences, found.scores, normalize_logits=True)
    print("grammar", found.sequences[:, 5:].tolist(), f"{chosen.exp().mean():.4f}")


if __name__ == "__main__":
    main()
