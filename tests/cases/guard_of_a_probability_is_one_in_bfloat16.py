# a probability is kept below 1 - 1e-5, and in bfloat16 that is 1
# expect: error
# phase: forward
# op: aten::log
# line: 13
# cause: eps_underflow
import torch

torch.manual_seed(0)
score = torch.tensor([0.3, 12.0, -1.0], requires_grad=True)
optimizer = torch.optim.SGD([score], lr=0.1)
chance = torch.sigmoid(score.bfloat16()).clamp(1e-5, 1 - 1e-5)
loss = -torch.log(1 - chance).mean()
loss.backward()
optimizer.step()
