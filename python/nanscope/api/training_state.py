"""Where training stands: a model, its optimizer, scheduler and the random numbers, to go back to.

Everything is put back where it is, bit for bit, into the same tensors and objects. What was saved
can be put back more than once.
"""

from __future__ import annotations

import copy
import random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class SavedTraining:
    """`others`: anything with state_dict() and load_state_dict(), a scheduler or a GradScaler."""

    def __init__(self, model=None, optimizer=None, others: Iterable = (), loader=None) -> None:
        torch = sys.modules["torch"]
        self.model, self.loader = model, loader
        self.others = [other for other in others if other is not None]
        self.optimizers = _as_list(optimizer)
        self.generators = list(_generators(loader))
        tensors = _tensors(model, self.optimizers)
        with torch.no_grad():
            self.tensors = [(t, t.detach().clone(), _copy(t.grad)) for t in tensors]
        self.modes = [(m, m.training) for root in _as_list(model) for m in root.modules()]
        self.states = [_optimizer_state(optimizer) for optimizer in self.optimizers]
        self.dicts = [copy.deepcopy(other.state_dict()) for other in self.others]
        self.random = _random_state(self.generators)

    def now(self) -> SavedTraining:
        """Another one, of the same things as they stand now."""
        return SavedTraining(self.model, self.optimizers, self.others, self.loader)

    def restore(self) -> None:
        torch = sys.modules["torch"]
        with torch.no_grad():
            for tensor, values, grad in self.tensors:
                if not _same(tensor, values):
                    tensor.copy_(values)
                if tensor.grad is not None and grad is not None and not grad.is_sparse:
                    tensor.grad.copy_(grad)
                elif tensor.is_leaf:
                    tensor.grad = _copy(grad)
        for module, training in self.modes:
            module.training = training
        for optimizer, state in zip(self.optimizers, self.states, strict=True):
            _restore_optimizer(optimizer, state)
        for other, state in zip(self.others, self.dicts, strict=True):
            other.load_state_dict(copy.deepcopy(state))
        _restore_random(self.generators, self.random)


def _as_list(value: object) -> list:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _tensors(model, optimizers: list) -> Iterator:
    """Parameters and buffers, each once, and what an optimizer alone holds."""
    seen: set[int] = set()
    for root in _as_list(model):
        for tensor in (*root.parameters(), *root.buffers()):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                yield tensor
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for tensor in group["params"]:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield tensor


def _copy(tensor):
    return None if tensor is None else tensor.detach().clone()


def _same(tensor, values) -> bool:
    """Equal bits; a copy that changes nothing would still raise the tensor's version."""
    torch = sys.modules["torch"]
    if tensor.is_sparse or tensor.dtype.is_complex:
        return False
    return bool(torch.equal(tensor.detach(), values))


def _optimizer_state(optimizer) -> tuple[list[dict], dict]:
    groups = [
        {name: copy.deepcopy(value) for name, value in group.items() if name != "params"}
        for group in optimizer.param_groups
    ]
    return groups, {key: copy.deepcopy(entries) for key, entries in optimizer.state.items()}


def _restore_optimizer(optimizer, state: tuple[list[dict], dict]) -> None:
    groups, entries = state
    for group, saved in zip(optimizer.param_groups, groups, strict=True):
        for name in [name for name in group if name != "params" and name not in saved]:
            del group[name]
        group.update(copy.deepcopy(saved))
    optimizer.state.clear()
    optimizer.state.update({key: copy.deepcopy(value) for key, value in entries.items()})


def _generators(loader) -> Iterator:
    """Those that a DataLoader draws its order from."""
    for owner in (loader, getattr(loader, "sampler", None)):
        generator = getattr(owner, "generator", None)
        if generator is not None and hasattr(generator, "get_state"):
            yield generator


def _random_state(generators: list) -> tuple:
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    of_numpy = numpy.random.get_state() if numpy is not None else None
    of_cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    own = [generator.get_state() for generator in generators]
    return torch.get_rng_state(), random.getstate(), of_numpy, of_cuda, own


def _restore_random(generators: list, state: tuple) -> None:
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    of_torch, of_python, of_numpy, of_cuda, own = state
    torch.set_rng_state(of_torch)
    random.setstate(of_python)
    if of_numpy is not None and numpy is not None:
        numpy.random.set_state(of_numpy)
    if of_cuda is not None:
        torch.cuda.set_rng_state_all(of_cuda)
    for generator, saved in zip(generators, own, strict=True):
        generator.set_state(saved)
