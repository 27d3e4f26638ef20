# transformers: BERT with a block-diagonal mask of -inf; a document without any token masks its whole row
# expect: error
# phase: forward
# op: aten::_softmax | aten::softmax
# line: 23
# cause: all_masked_softmax
import torch
from torch import nn
from transformers import BertConfig, BertModel, set_seed


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        config = BertConfig(
            vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=48, attn_implementation="eager",
        )
        self.bert = BertModel(config, add_pooling_layer=False)
        self.head = nn.Linear(32, 2)

    def forward(self, ids, mask):
        return self.head(self.bert(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0])


def block_mask(ids, documents):
    """Tokens see the tokens of their own document; padding (document -1) sees and is seen by none."""
    same = (documents[:, :, None] == documents[:, None, :]) & (documents[:, None, :] >= 0)
    return torch.zeros(same.shape).masked_fill(~same, float("-inf"))[:, None]


def main():
    set_seed(0)
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(8):
        ids = torch.randint(4, 40, (4, 10))
        documents = (torch.arange(10) >= 5).long().repeat(4, 1)
        if step == 5:
            documents[2, 7:] = -1  # the first row that is not full
        labels = ids[:, 0] % 2
        mask = block_mask(ids, documents)
        loss = nn.functional.cross_entropy(model(ids, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
