# x-transformers and einops: causal, ALiBi, sparse top-k and memory attention; max_neg_value masks, key padding
# expect: silence
import torch
import torch.nn.functional as F
from einops import rearrange, reduce
from torch import nn
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper


def language_model():
    net = TransformerWrapper(
        num_tokens=40, max_seq_len=24,
        attn_layers=Decoder(
            dim=32, depth=2, heads=4, attn_dim_head=8, alibi_pos_bias=True, attn_sparse_topk=4,
            attn_num_mem_kv=2, use_rmsnorm=True, ff_glu=True, attn_qk_norm=True,
        ),
    )
    return AutoregressiveWrapper(net, pad_value=0, ignore_index=0)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = TransformerWrapper(
            num_tokens=40, max_seq_len=24, return_only_embed=True,
            attn_layers=Encoder(dim=32, depth=2, heads=4, attn_dim_head=8, attn_flash=True, rel_pos_bias=False),
        )
        self.head = nn.Linear(32, 3)

    def forward(self, ids, keep):
        hidden = self.net(ids, mask=keep)
        top = hidden.masked_fill(~rearrange(keep, "b n -> b n 1"), float("-inf"))
        return self.head(reduce(top, "b n d -> b d", "max"))


def batch(size=8, length=16):
    ids = (torch.randint(1, 39, (size, 1)) + torch.arange(length)) % 39 + 1
    keep = torch.arange(length) < torch.randint(3, length + 1, (size, 1))
    return ids.masked_fill(~keep, 0), keep


def main():
    torch.manual_seed(0)
    model = language_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(10):
        loss = model(batch()[0])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    print(f"language {loss.item():.4f}")
    model.eval()
    print(model.generate(torch.tensor([[3, 4, 5]]), 8, temperature=0.8).tolist())
    tagger = Tagger()
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=2e-3)
    for step in range(10):
        ids, keep = batch()
        loss = F.cross_entropy(tagger(ids, keep), ids[:, 0] % 3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"tags {loss.item():.4f}")


if __name__ == "__main__":
    main()
