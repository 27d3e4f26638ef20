# transformers: a document without any word is averaged over its words: 0 / 0 behind a compiled BERT
# expect: error
# phase: forward
# op: aten::div
# line: 20
# cause: division_by_zero
import torch
from torch import nn
from transformers import BertConfig, BertModel, set_seed


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        self.bert = BertModel(BertConfig(vocab_size=64, intermediate_size=64, **shape))
        self.head = nn.Linear(32, 2)
    def forward(self, ids, keep):
        states = self.bert(input_ids=ids, attention_mask=keep.long()).last_hidden_state
        mean = (states * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
        return self.head(mean)


set_seed(0)
model = Classifier()
forward = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for sizes in ([[16], [9], [4], [2]], [[16], [9], [0], [2]]):
    ids = torch.randint(3, 64, (4, 16))
    keep = torch.arange(16) < torch.tensor(sizes)
    loss = nn.functional.cross_entropy(forward(ids, keep), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
