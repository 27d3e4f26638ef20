# CTC: target longer than the input sequence
# expect: error
# phase: data | forward
# op: aten::_ctc_loss | aten::ctc_loss
# line: 12
# cause: bad_input_data
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    logits = torch.randn(3, 2, 5, requires_grad=True)      # T=3 frames, N=2
    targets = torch.tensor([[1, 2, 0, 0], [1, 1, 2, 2]])   # second target needs 6 frames
    loss = F.ctc_loss(logits.log_softmax(-1), targets, torch.tensor([3, 3]), torch.tensor([2, 4]))
    loss.backward()
    return dict(loss=loss, grad0=logits.grad[:, 0].abs().sum(), grad1=logits.grad[:, 1])

if __name__ == "__main__":
    print(main())
