# Top-k/top-p filter removes every token, sampling crashes
# expect: error
# phase: forward
# op: aten::_softmax | aten::softmax
# line: 12
# cause: all_masked_softmax
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
logits = torch.tensor([[1.0, 2.0, 3.0]])
allowed = torch.tensor([[False, False, False]])     # the grammar allows nothing
logits = logits.masked_fill(~allowed, float('-inf'))
probs = logits.softmax(-1)
bad = probs
try:
    torch.multinomial(probs, 1); msg = ''
except RuntimeError as e:
    msg = str(e)
result = dict(probs=bad, msg=msg)
