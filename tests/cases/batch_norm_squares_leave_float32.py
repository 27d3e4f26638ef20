# one pixel is so large that its square is inf: the running variance is spoilt, the output is not
# expect: error
# phase: forward
# op: aten::native_batch_norm
# line: 12
# cause: float_overflow
import torch

norm = torch.nn.BatchNorm2d(3)
image = torch.rand(4, 3, 8, 8)
image[0, 0, 0, 0] = 3e19
norm(image).mean().backward()
torch.optim.SGD(norm.parameters(), lr=0.1).step()
