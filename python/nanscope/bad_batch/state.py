"""Where a training stands, as plain values that torch.load(weights_only=True) takes: what models,
optimizers, schedulers, loss scalers and generators of random numbers hold, and the batches.
Nothing in them can run code.
"""

from __future__ import annotations

import copy
import dataclasses
import random
import sys
from collections import Counter, OrderedDict
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.bad_batch.training import Training

PLAIN = (int, float, complex, bool, str, bytes, type(None))
PARTS = ("models", "optimizers", "schedulers", "scalers", "loose")  # of a kept state


class Differs(Exception):
    """The program is another than the one whose step was kept; a sentence without its end."""


# ---------------------------------------------------------------------------------- the state
def state_of(training: Training) -> dict:
    return {
        "models": [copied(model.state_dict()) for model in training.models()],
        "optimizers": [copied(optimizer.state_dict()) for optimizer in training.optimizers()],
        "schedulers": [plain_of(scheduler.state_dict()) for scheduler in training.schedulers()],
        "scalers": [plain_of(scaler.state_dict()) for scaler in training.scalers()],
        "loose": [parameter.detach().clone() for parameter in training.loose_parameters()],
    }


def put_back(training: Training, state: dict) -> None:
    torch = sys.modules["torch"]
    models, optimizers = training.models(), training.optimizers()
    schedulers, scalers = training.schedulers(), training.scalers()
    loose = training.loose_parameters()
    for what, now, kept in (
        ("models", models, state["models"]),
        ("optimizers", optimizers, state["optimizers"]),
        ("schedulers", schedulers, state["schedulers"]),
        ("loss scalers", scalers, state["scalers"]),
        ("parameters without a model", loose, state["loose"]),
    ):
        if len(now) != len(kept):
            raise Differs(f"it has {len(now)} {what} here, and {len(kept)} were kept")
    for model, kept in zip(models, state["models"], strict=True):
        now = model.state_dict()
        shapes = {name: getattr(value, "shape", None) for name, value in now.items()}
        if shapes != {name: getattr(value, "shape", None) for name, value in kept.items()}:
            raise Differs(f"its {type(model).__name__} has other parameters")
    with torch.no_grad():
        for parameter, kept in zip(loose, state["loose"], strict=True):
            if parameter.shape != kept.shape:
                raise Differs(f"it trains a tensor of shape {tuple(parameter.shape)} here")
            parameter.copy_(kept)
    for model, kept in zip(models, state["models"], strict=True):
        model.load_state_dict(kept)
    for optimizer, kept in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(copy.deepcopy(kept))
    for what, now, kept in (
        *zip(["scheduler"] * len(schedulers), schedulers, state["schedulers"], strict=True),
        *zip(["loss scaler"] * len(scalers), scalers, state["scalers"], strict=True),
    ):
        try:
            now.load_state_dict(copy.deepcopy(kept))
        except (KeyError, RuntimeError):
            raise Differs(f"its {what} {type(now).__name__} is another") from None


def plain_of(state: dict) -> dict:
    """What of a state_dict is plain: a scheduler's has all of its attributes, and one that is put
    back as nothing would be lost.
    """
    return {key: copied(value) for key, value in state.items() if is_plain(value)}


def is_plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(is_plain(one) for one in value.values())
    if isinstance(value, (list, tuple)):
        return all(is_plain(one) for one in value)
    return isinstance(value, (*PLAIN, sys.modules["torch"].Tensor))


def copied(state: object) -> object:
    """A state_dict without what it shares with the training. Of anything that is no plain value
    only what torch itself would load is kept.
    """
    torch = sys.modules["torch"]
    if isinstance(state, torch.Tensor):
        return state.detach().clone()
    if isinstance(state, Mapping):
        kind = type(state) if type(state) in (Counter, OrderedDict) else dict
        return kind({key: copied(value) for key, value in state.items()})
    if isinstance(state, (list, tuple)):
        kind = type(state) if type(state) in (list, tuple) else list
        return kind(copied(value) for value in state)
    return state if isinstance(state, PLAIN) else None


# ------------------------------------------------------------------------------ random numbers
def random_state() -> dict:
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    state = {"torch": torch.get_rng_state(), "python": random.getstate(), "numpy": None}
    if numpy is not None:
        name, keys, *rest = numpy.random.get_state()
        state["numpy"] = (name, [int(key) for key in keys], *rest)
    if torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def put_back_random(state: dict) -> None:
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    torch.set_rng_state(state["torch"])
    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    if state["numpy"] is not None and numpy is not None:
        name, keys, *rest = state["numpy"]
        numpy.random.set_state((name, numpy.array(keys, dtype=numpy.uint32), *rest))
    if state.get("cuda") is not None and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])


# ------------------------------------------------------------------------------------ batches
def parts_of(value: object) -> dict | None:
    """What a batch consists of, by the key that reaches each part; None: it is no container."""
    if isinstance(value, Mapping) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
        keys = value.keys
        return {key: value[key] for key in (keys() if callable(keys) else keys)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name, None) for f in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    return None


def as_plain(batch: object) -> object:
    """Dicts, lists and tuples of tensors and plain values; what is none of these is None."""
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    if isinstance(batch, torch.Tensor):
        return batch.detach().clone()
    if numpy is not None and isinstance(batch, numpy.ndarray):
        return torch.from_numpy(batch.copy()) if batch.dtype.kind in "biufc" else None
    parts = parts_of(batch)
    if parts is None:
        return batch if isinstance(batch, PLAIN) else None
    plain = {key: as_plain(value) for key, value in parts.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(plain.values()) if type(batch) in (list, tuple) else (*plain.values(),)
    return plain


def in_place_of(own: object, kept: object) -> object:
    """A batch as the program's own loader makes it, with the kept values in it."""
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    if isinstance(own, torch.Tensor):
        if not isinstance(kept, torch.Tensor):
            raise Differs("its batches are made otherwise")
        return kept.to(own.device)
    if numpy is not None and isinstance(own, numpy.ndarray):
        return kept.numpy() if isinstance(kept, torch.Tensor) else own
    parts = parts_of(own)
    if parts is None:
        return own if kept is None else kept
    if isinstance(kept, (list, tuple)):
        kept = dict(enumerate(kept))
    if not isinstance(kept, dict) or kept.keys() != parts.keys():
        raise Differs("its batches are made otherwise")
    new = {key: in_place_of(value, kept[key]) for key, value in parts.items()}
    if isinstance(own, (list, tuple)):
        values = new.values()
        return type(own)(*values) if hasattr(own, "_fields") else type(own)(values)
    if dataclasses.is_dataclass(own) and not isinstance(own, Mapping):
        return dataclasses.replace(own, **new)
    for key, value in new.items():
        own[key] = value
    return own


def tensors_in(value: object, most: int = 4096) -> list:
    """All tensors of a nest, found without looking into objects of other kinds."""
    torch = sys.modules["torch"]
    found, waiting, seen = [], [value], set()
    while waiting and len(seen) < most:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, torch.Tensor):
            found.append(one)
        elif isinstance(one, Mapping):
            waiting += [one[key] for key in one]
        elif isinstance(one, (list, tuple)):
            waiting += one
        elif dataclasses.is_dataclass(one) and not isinstance(one, type):
            waiting += parts_of(one).values()
    return found
