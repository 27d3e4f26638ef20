# Missing values (NaN) in the middle of the training table
# expect: error
# phase: data | forward
# op: input data | aten::fill_ | aten::copy_ | aten::lift_fresh | aten::addmm | aten::linear
# line: 11 | 16
# cause: bad_input_data
import math, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def main():
    data = torch.randn(6, 3)
    data[3, 2] = float('nan')                            # a missing value in the CSV
    lin = nn.Linear(3, 1)
    losses = []
    for b in range(3):
        x = data[b * 2:b * 2 + 2]
        losses.append(lin(x).pow(2).mean())
    loss = sum(losses)
    loss.backward()
    return dict(losses=torch.stack(losses), grad=lin.weight.grad)

if __name__ == "__main__":
    print(main())
