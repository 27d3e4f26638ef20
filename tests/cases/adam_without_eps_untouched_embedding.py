# Adam with eps=0 and an embedding row that never gets a gradient
# expect: error
# phase: optimizer
# op: aten::addcdiv_ | aten::addcdiv | aten::div
# line: 13
# cause: optimizer_division_by_zero | division_by_zero
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    emb = nn.Embedding(3, 2)
    opt = torch.optim.Adam(emb.parameters(), lr=0.1, eps=0.0)
    loss = emb(torch.tensor([0, 1])).pow(2).sum()         # row 2 unused -> gradient exactly 0
    loss.backward(); opt.step()
    return dict(loss=loss, grad_row2=emb.weight.grad[2], row2=emb.weight[2])

if __name__ == "__main__":
    print(main())
