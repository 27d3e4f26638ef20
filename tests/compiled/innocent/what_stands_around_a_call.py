# Zeros behind a division, under hooks and a mode of the program's own: they hear of no replay
# expect: silence
import torch
from torch.overrides import TorchFunctionMode

heard = {"packed": 0, "called": 0}


def pack(tensor):
    heard["packed"] += 1
    return tensor


class Counts(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        heard["called"] += 1
        return function(*args, **(kwargs or {}))


def halved(x):
    return (x.exp() * x.relu()) / 2


compiled = torch.compile(halved)


def hears(x):
    """In a call of what is compiled already."""
    before = dict(heard)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        compiled(x).sum().backward()
    with Counts():
        compiled(x)
    return {name: heard[name] - before[name] for name in heard}


positive, negative = torch.ones(4, requires_grad=True), (-torch.ones(4)).requires_grad_()
hears(positive)
assert hears(negative) == hears(positive)
