# a backend whose forward torch does not see
# expect: error
# line: 17
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def backend(graph, inputs):
    def run(*given):
        results = graph(*[x.detach() if isinstance(x, torch.Tensor) else x for x in given])
        return tuple(torch.from_numpy(r.numpy().copy()) for r in results)
    return run
p = nn.Parameter(torch.zeros(4))
@torch.compile(backend=backend)
def f(x):
    return torch.log(x)
with torch.no_grad():
    p.copy_(f(torch.zeros(4)))
