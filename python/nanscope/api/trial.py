"""One training step, tried: did its loss, gradients or parameters go bad?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from nanscope.api.leaves import leaves_of
from nanscope.api.statistics import Stats, counted, stats_of
from nanscope.errors import CheckFailed, NonFiniteError, Unreadable
from nanscope.outside.arrays import array_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ABOUT_NAN = re.compile(r"\b(nan|inf|infinite|non-?finite|not finite)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Harm:
    """What went bad first, in the order in which a step makes them."""

    kind: Literal["loss", "gradient", "parameter", "buffer", "exception"]
    name: str
    stats: Stats | None = None
    exception: BaseException | None = None

    def __str__(self) -> str:
        if self.kind == "exception":
            first_line = str(self.exception).partition("\n")[0]
            return f"{type(self.exception).__name__}: {first_line}"
        what = f"the {self.kind} {self.name}" if self.kind != "loss" else self.name
        return f"{what} is not finite ({counted(self.stats)})"


class Trial:
    """Runs `step(batch)` and looks at what it left behind.

    Buffers and parameters that were not finite before are not this step's doing.
    """

    def __init__(self, step: Callable, model=None, optimizer=None) -> None:
        self.step = step
        self.model = model
        self.optimizer = optimizer

    def run(self, batch: object) -> Harm | None:
        """An exception that is not about NaN or Inf passes through."""
        bad_before = {id(tensor) for _, _, tensor in self._state() if not _is_finite(tensor)}
        try:
            loss = self.step(batch)
        except NonFiniteError as error:
            return Harm("exception", getattr(error, "path", ""), _stats_in(error), error)
        except Exception as error:
            if ABOUT_NAN.search(str(error)) is None:
                raise
            return Harm("exception", type(error).__name__, None, error)
        return self._judge(loss, bad_before)

    def bad_already(self) -> Harm | None:
        """Before any step: a parameter that is not finite."""
        for kind, name, tensor in self._state():
            if kind == "parameter" and not _is_finite(tensor):
                return Harm(kind, name, stats_of(tensor, name))
        return None

    def _judge(self, loss: object, bad_before: set[int]) -> Harm | None:
        for path, leaf in leaves_of(loss, "loss"):
            if not _is_finite(leaf):
                return Harm("loss", path, stats_of(leaf, path))
        for name, parameter in self._parameters():
            if parameter.grad is not None and not _is_finite(parameter.grad):
                return Harm("gradient", name, stats_of(parameter.grad, name))
        for kind, name, tensor in self._state():
            if id(tensor) not in bad_before and not _is_finite(tensor):
                return Harm(kind, name, stats_of(tensor, name))
        return None

    def _parameters(self) -> Iterator[tuple[str, object]]:
        seen: set[int] = set()
        for root in _as_list(self.model):
            for name, parameter in root.named_parameters():
                seen.add(id(parameter))
                yield name, parameter
        for optimizer in _as_list(self.optimizer):
            for i, group in enumerate(optimizer.param_groups):
                for j, parameter in enumerate(group["params"]):
                    if id(parameter) not in seen:
                        yield f"{j} of group {i}", parameter

    def _state(self) -> Iterator[tuple[str, str, object]]:
        for name, parameter in self._parameters():
            yield "parameter", name, parameter
        for root in _as_list(self.model):
            for name, buffer in root.named_buffers():
                yield "buffer", name, buffer


def _is_finite(value: object) -> bool:
    try:
        array = array_of(value, "")
    except Unreadable:
        return True
    return array is None or array.all_finite()


def _stats_in(error: NonFiniteError) -> Stats | None:
    return error.stats if isinstance(error, CheckFailed) else None


def _as_list(value: object) -> Iterable:
    if value is None:
        return ()
    return value if isinstance(value, (list, tuple)) else (value,)
