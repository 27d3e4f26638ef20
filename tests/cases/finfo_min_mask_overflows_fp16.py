# finfo.min mask plus a negative score overflows to -inf in fp16, row fully masked
# expect: error
# phase: forward
# op: aten::add
# line: 13
# cause: half_overflow | all_masked_softmax
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    scores = torch.tensor([[-40.0, -60.0], [1.0, 2.0]]).half()
    mask = torch.full((2, 2), torch.finfo(torch.float16).min).half()
    mask[1] = 0
    masked = scores + mask
    att = masked.float().softmax(-1)                    # fp16 softmax is not implemented on CPU
    loss = att.pow(2).sum()
    return dict(masked=masked, att=att, loss=loss)

if __name__ == "__main__":
    print(main())
