# peft and accelerate: DoRA adapters on OPT; bf16, clipping and accumulation by the Accelerator
# expect: silence
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader
from transformers import OPTConfig, OPTForCausalLM

PAD = 1


def rows(number, length=14):
    for _ in range(number):
        ids = (torch.randint(2, 50, ()) + 2 * torch.arange(length)) % 60 + 2
        size = int(torch.randint(4, length + 1, ()))
        ids[size:] = PAD
        keep = torch.arange(length) < size
        yield {"input_ids": ids, "attention_mask": keep.long(), "labels": ids.masked_fill(~keep, -100)}


def main():
    set_seed(0)
    config = OPTConfig(
        vocab_size=64, hidden_size=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=32, word_embed_proj_dim=32, pad_token_id=PAD,
    )
    lora = LoraConfig(r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["q_proj", "v_proj"], use_dora=True)
    model = get_peft_model(OPTForCausalLM(config), lora)
    accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    loader = DataLoader(list(rows(64)), batch_size=8, shuffle=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=16)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(2):
        total = 0.0
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(**batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += accelerator.gather(loss.detach()).mean().item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
    merged = model.merge_and_unload()
    with torch.no_grad():
        logits = merged(input_ids=torch.tensor([[5, 7, 9, 11]])).logits
    print(logits[0, -1].topk(3).indices.tolist())


if __name__ == "__main__":
    main()
