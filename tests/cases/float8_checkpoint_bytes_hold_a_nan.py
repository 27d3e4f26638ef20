# A checkpoint's float8 weights come as bytes, are put in order as bytes, and one of them is NaN
# expect: error
# phase: data
# op: aten::_to_copy
# line: 16
# cause: bad_input_data
import torch

torch.manual_seed(0)
raw = bytearray(b"\x38" * 63 + b"\x7f")
weight = torch.nn.Parameter(torch.randn(8, 8))
optimizer = torch.optim.SGD([weight], lr=0.05)
for step in range(3):
    rows = torch.frombuffer(raw, dtype=torch.uint8).view(8, 8)
    loaded = rows[torch.arange(7, -1, -1)].view(torch.float8_e4m3fn)
    loss = (loaded.to(torch.float32) @ weight).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
