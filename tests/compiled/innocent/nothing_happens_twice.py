# Results of zeros behind a division, by functions that count how often they run, and that draw
# expect: silence
import random

import torch

ran = {"op": 0, "allowed": 0}


@torch.library.custom_op("nanscope_tests::counted", mutates_args=())
def counted(x: torch.Tensor) -> torch.Tensor:
    ran["op"] += 1
    return (x + torch.rand(4) + random.random()).clamp(max=0)


counted.register_fake(torch.empty_like)


@torch.compiler.allow_in_graph
def allowed(x):
    ran["allowed"] += 1
    return x.relu()


@torch.compile
def of_an_op(x):
    return counted(x) / 2


@torch.compile
def of_a_function(x):
    return allowed(x) / 2


@torch.compile
def drawn(x):
    return x / 2, torch.nn.functional.dropout(x, 0.5) / 3


with torch.no_grad():
    of_a_function(-torch.ones(4))
    once = ran["allowed"]  # by the compiler, which looks through it
    torch.manual_seed(0)
    random.seed(0)
    expected = [(torch.rand(4), random.random()) for _ in range(3)]
    state, after = torch.get_rng_state(), random.getstate()
    torch.manual_seed(0)
    random.seed(0)
    for _ in expected:
        of_an_op(torch.ones(4))
        of_a_function(-torch.ones(4))
    assert ran == {"op": 3, "allowed": once}, ran
    assert torch.equal(torch.get_rng_state(), state)
    assert random.getstate() == after
    torch.manual_seed(0)
    drawn(torch.ones(4))
    state = torch.get_rng_state()
    torch.manual_seed(0)
    drawn(torch.zeros(4))
    assert torch.equal(torch.get_rng_state(), state)
