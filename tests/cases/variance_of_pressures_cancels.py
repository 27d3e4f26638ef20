# the variance of readings near 1e5 as E[x^2] - E[x]^2 in float32 is rounding noise
# expect: error
# phase: forward
# op: aten::sqrt
# line: 15
# cause: cancellation
import torch

torch.manual_seed(0)


def standardised(window):
    mean = window.mean(dim=1, keepdim=True)
    variance = (window * window).mean(dim=1, keepdim=True) - mean**2
    return (window - mean) / torch.sqrt(variance)


pressure = 101325 + torch.randn(8, 24)
weight = torch.zeros(24, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
(standardised(pressure) @ weight).square().mean().backward()
optimizer.step()
