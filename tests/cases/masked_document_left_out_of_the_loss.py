# every word of one document is masked; that it is not in the loss does not make it another fault
# expect: error
# phase: forward
# op: aten::_softmax
# line: 14
# cause: all_masked_softmax
import torch

torch.manual_seed(0)
words = torch.randn(3, 5, 8)
count = torch.tensor([5, 2, 0])
query, value = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
score = (query(words.mean(1))[:, None] * words).sum(-1)
weight = score.masked_fill(torch.arange(5) >= count[:, None], -torch.inf).softmax(-1)
pooled = (weight[..., None] * value(words)).sum(1)
loss = pooled[count > 0].square().mean()
loss.backward()
torch.optim.SGD([*query.parameters(), *value.parameters()], lr=0.1).step()
