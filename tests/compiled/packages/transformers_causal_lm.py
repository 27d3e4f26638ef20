# transformers: a small Llama compiled, padded batches, three steps
# expect: silence
import torch
from transformers import LlamaConfig, LlamaForCausalLM, set_seed

set_seed(0)
config = LlamaConfig(
    vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=32, use_cache=False,
)
model = LlamaForCausalLM(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
forward = torch.compile(model)
for step in range(3):
    ids = torch.randint(3, 64, (4, 16))
    keep = torch.arange(16) < torch.tensor([[16], [9], [4], [2]])
    labels = ids.masked_fill(~keep, -100)
    loss = forward(input_ids=ids, attention_mask=keep.long(), labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step} {loss.item():.4f}")
