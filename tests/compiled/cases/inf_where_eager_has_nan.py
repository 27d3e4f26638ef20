# The compiled form comes to inf where eager comes to nan: another order, the same mistake
# expect: error
# phase: forward
# op: aten::add
# line: 19
# cause: half_overflow
import torch


def in_another_order(graph, inputs):
    def run(*inputs):
        return tuple(result.nan_to_num(nan=float("inf")) for result in graph.forward(*inputs))

    return run


@torch.compile(backend=in_another_order)
def spread(x, y):
    h = x + y
    return (h.float() - h.float().mean()).square().mean()


x, y = torch.tensor([9000.0, 1.0]).half(), torch.tensor([60600.0, 2.0]).half()
loss = spread(x, y)
