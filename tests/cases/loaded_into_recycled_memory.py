# Samples that the run itself spoiled, saved and read back into memory that healthy tensors had
# expect: error
# phase: forward
# op: aten::lift_fresh; from torch 2.15: aten::fill_
# line: 22
# cause: nan_constant
import io

import torch


def file_of(tensor):
    file = io.BytesIO()
    torch.save(tensor, file)
    return file


torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
samples = [torch.randn(8, 4) for _ in range(20)]
samples[15][2, 1] = float("inf")
files = [file_of(sample) for sample in samples]
del samples
for file in files:
    scratch = [torch.randn(8, 4) * 2 for _ in range(50)]
    del scratch
    file.seek(0)
    x = torch.load(file)
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
