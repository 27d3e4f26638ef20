# A dataset row with an empty answer: all labels are -100
# expect: error
# phase: forward
# op: aten::nll_loss_forward | aten::nll_loss | aten::nll_loss_nd | aten::cross_entropy_loss
# line: 11
# cause: empty_reduction | bad_input_data
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
emb = nn.Embedding(10, 4); head = nn.Linear(4, 10)
def step(ids, labels):
    return F.cross_entropy(head(emb(ids)), labels, ignore_index=-100)
good = step(torch.tensor([1, 2, 3]), torch.tensor([-100, 3, 4]))
bad = step(torch.tensor([5, 6, 7]), torch.tensor([-100, -100, -100]))
loss = (good + bad) / 2
loss.backward()
out = dict(good=good, bad=bad, grad=head.weight.grad)
