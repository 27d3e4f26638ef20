# transformers: BERT and T5 on ragged, padded batches; T5 takes the log of position 0 and does not use it
# expect: silence
import torch
from transformers import BertConfig, BertForMaskedLM, T5Config, T5ForConditionalGeneration, set_seed

PAD, MASK = 0, 1


def ragged(batch, length, generator):
    """Token ids of rows of different lengths (at least two words), padded on the right."""
    ids = torch.randint(4, 50, (batch, length), generator=generator)
    sizes = torch.randint(2, length + 1, (batch, 1), generator=generator)
    keep = torch.arange(length) < sizes
    return ids.masked_fill(~keep, PAD), keep.long()


def train(name, model, batch_of):
    generator = torch.Generator().manual_seed(3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model.train()
    losses = []
    for step in range(12):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=step >= 8):
            loss = model(**batch_of(generator)).loss
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.step()
        losses.append(loss.item())
    print(name, *(f"{loss:.3f}" for loss in losses), f"norm {norm:.2f}")


def bert_batch(generator):
    ids, keep = ragged(8, 14, generator)
    hidden = (torch.rand(ids.shape, generator=generator) < 0.3) & keep.bool()
    hidden[:, 0] = True
    return {
        "input_ids": ids.masked_fill(hidden, MASK),
        "attention_mask": keep,
        "labels": ids.masked_fill(~hidden, -100),
    }


def t5_batch(generator):
    ids, keep = ragged(8, 12, generator)
    return {"input_ids": ids, "attention_mask": keep, "labels": ids.masked_fill(keep == 0, -100)}


def main():
    for attention in ("eager", "sdpa"):
        set_seed(0)
        config = BertConfig(
            vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=32, attn_implementation=attention,
        )
        train(f"bert {attention}", BertForMaskedLM(config), bert_batch)
    set_seed(0)
    config = T5Config(
        vocab_size=50, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    train("t5", model, t5_batch)
    model.eval()
    ids, keep = ragged(3, 12, torch.Generator().manual_seed(9))
    print(model.generate(input_ids=ids, attention_mask=keep, num_beams=3, max_new_tokens=8).tolist())


if __name__ == "__main__":
    main()
