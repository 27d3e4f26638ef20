# Hierarchical head without any annotation in the batch
# expect: error
# phase: forward
# op: aten::nll_loss_forward | aten::nll_loss | aten::nll_loss_nd | aten::cross_entropy_loss
# line: 16
# cause: empty_reduction
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    head = nn.Linear(4, 6)
    feat = torch.randn(3, 4); logits = head(feat)
    gt = torch.tensor([[0, -1], [1, -1], [2, -1]])        # second group has no labels
    loss = 0
    for k, sl in enumerate((slice(0, 3), slice(3, 6))):
        valid = gt[:, k] >= 0
        loss = loss + F.cross_entropy(logits[valid][:, sl], gt[valid, k])
    loss.backward()
    return dict(loss=loss, grad_rows=head.weight.grad.isnan().any(1))

if __name__ == "__main__":
    print(main())
