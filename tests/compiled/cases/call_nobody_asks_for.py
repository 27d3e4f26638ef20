# The compiler leaves out a draw from NaN that raises in eager, and one that moves the generator
# expect: error
# phase: forward
# op: aten::_softmax
# line: 12
# cause: all_masked_softmax
import torch


@torch.compile
def chances(logits, banned):
    chances = logits.masked_fill(banned, float("-inf")).softmax(-1)
    torch.multinomial(chances, 1)
    torch.rand(3)
    return chances


result = chances(torch.ones(1, 3), torch.ones(1, 3, dtype=torch.bool))
