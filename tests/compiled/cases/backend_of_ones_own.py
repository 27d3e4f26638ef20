# a backend that runs another graph than it was given
# expect: error
# line: 25
# op: aten::log
# phase: forward
# cause: log_of_negative
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import torch.fx
def backend(graph, inputs):
    changed = torch.fx.GraphModule(graph, torch.fx.Graph())
    changed.graph.output(changed.graph.graph_copy(graph.graph, {}))
    changed.recompile()
    return lambda *given: changed(*given)
w = torch.randn(4, 4, requires_grad=True)
@torch.compile(backend=backend)
def f(x):
    h = x @ w
    return torch.log(h).sum()
step(f(torch.randn(3, 4)), w)
