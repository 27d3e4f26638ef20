# torch.multinomial on the softmax of logits that overflowed, the exception caught and shown
# expect: error
# phase: forward
# op: aten::mul
# line: 12
# cause: float_overflow
import torch

torch.manual_seed(0)
hidden = torch.randn(1, 8)
head = torch.randn(8, 5) * 1e20
logits = (hidden @ head) * 1e20
probs = torch.nn.functional.softmax(logits, dim=-1)
try:
    token = torch.multinomial(probs, 1)
except RuntimeError as error:
    print("sampling failed:", error)
