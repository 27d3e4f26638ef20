# transformers: a Mixtral with router loss, experts that see no token, and sliding-window attention
# expect: silence
import torch
from transformers import MixtralConfig, MixtralForCausalLM, set_seed


def main():
    set_seed(0)
    config = MixtralConfig(
        vocab_size=40, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, num_local_experts=8, num_experts_per_tok=2, output_router_logits=True,
        sliding_window=4, max_position_embeddings=32, router_aux_loss_coef=0.02, pad_token_id=0,
        use_cache=False,
    )
    model = MixtralForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(12):
        batch = 8 if step < 8 else 1  # a single short row leaves experts without any token
        ids = (torch.randint(1, 38, (batch, 1)) + torch.arange(10)) % 39 + 1
        mask = torch.ones_like(ids)
        if batch > 1:
            mask[::2, :3] = 0
        labels = ids.masked_fill(mask == 0, -100)
        out = model(input_ids=ids, attention_mask=mask, labels=labels)
        optimizer.zero_grad()
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(step, f"loss {out.loss.item():.4f} router {out.aux_loss.item():.4f}")


if __name__ == "__main__":
    main()
