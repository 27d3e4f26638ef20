# Aggregation buffer allocated with empty(), rows without messages never written
# expect: error
# phase: data | forward
# op: aten::empty
# line: 13
# cause: uninitialised_memory
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    msg = torch.randn(2, 256); dst = torch.tensor([0, 2])
    junk = [torch.full((4, 256), float('nan')) for _ in range(96)]
    keep = junk[::3]; del junk                                              # freed memory full of NaN bytes
    out_buf = torch.empty(4, 256)
    out_buf[dst] = msg                                    # rows 1 and 3 are never written
    loss = out_buf.pow(2).mean()
    return dict(bad_per_row=(~out_buf.isfinite()).sum(1), loss=loss)

if __name__ == "__main__":
    print(main())
