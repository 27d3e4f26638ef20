"""forward_hooks: which module made the first NaN or Inf, and which only passed it on."""

import torch

import nanscope


class Log(torch.nn.Module):
    def forward(self, x):
        return torch.log(x)


model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), Log(), torch.nn.Softmax(-1))
with nanscope.forward_hooks(model, on_find="report") as hooks:
    model(torch.zeros(1, 2) - 10)
print(hooks)
