# Rows of torch.empty that nobody writes are read: this compiled form was given memory full of NaN
# expect: error
# phase: forward | data
# op: aten::empty
# line: 23
# cause: uninitialised_memory
import torch


def in_dirty_memory(graph, inputs):
    def run(*inputs):
        torch.use_deterministic_algorithms(True)  # fills with NaN what torch.empty takes
        try:
            return graph.forward(*inputs)
        finally:
            torch.use_deterministic_algorithms(False)

    return run


@torch.compile(backend=in_dirty_memory)
def mean_of(message, rows):
    buffer = torch.empty(4, 256)
    buffer[rows] = message
    return buffer.square().mean()


loss = mean_of(torch.randn(2, 256), torch.tensor([0, 2]))
