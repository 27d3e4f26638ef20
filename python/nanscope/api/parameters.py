"""A model's weights, gradients and optimizer state, one line each, the worst first.

Only NaN and Inf make a table bad. What is said about magnitudes are remarks, and only about
tensors of two dimensions or more: a bias of zeros and a norm's weight of ones are as they should
be.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from nanscope import _core
from nanscope.api.statistics import Stats, counted, number, stats_of
from nanscope.api.tables import as_html, as_text
from nanscope.errors import CheckFailed, Unreadable
from nanscope.outside.arrays import array_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import torch

EXTREME = 100.0
NEAR_ZERO = 1e-6
MOST_ROWS = 40
HEAD = ("", "shape", "NaN", "Inf", "norm", "largest", "smallest", ">100", "<1e-6", "remarks")
LEFT = frozenset({0, 1, 9})
RED, AMBER = "#c00", "#a60"


@dataclass(frozen=True)
class ParameterRow:
    """One tensor. `largest` and `smallest` are magnitudes; `smallest` leaves zeros out.

    `extreme` counts elements above 100, `near_zero` those below 1e-6.
    """

    name: str
    stats: Stats
    norm: float
    largest: float | None
    smallest: float | None
    extreme: int
    near_zero: int
    constant: bool
    all_zero: bool
    remarks: tuple[str, ...]

    @property
    def nan(self) -> int:
        return self.stats.nan

    @property
    def inf(self) -> int:
        return self.stats.pos_inf + self.stats.neg_inf

    @property
    def ok(self) -> bool:
        return self.stats.ok

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            str(list(self.stats.shape)),
            _core.grouped(self.nan),
            _core.grouped(self.inf),
            number(self.norm),
            number(self.largest),
            number(self.smallest),
            _core.grouped(self.extreme),
            _core.grouped(self.near_zero),
            ", ".join(self.remarks),
        )


@dataclass(frozen=True)
class ParameterTable:
    """Rows, the worst first. `ok` and `raise_if_bad` are about NaN and Inf only.

    `total_norm` is over all rows together, and not finite if one of them is not. `missing` names
    the parameters that have no gradient.
    """

    what: str
    rows: tuple[ParameterRow, ...]
    total_norm: float
    missing: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    @property
    def bad(self) -> tuple[ParameterRow, ...]:
        return tuple(row for row in self.rows if not row.ok)

    def raise_if_bad(self) -> None:
        """Raises `CheckFailed` if a NaN or Inf is in one of the tensors."""
        if not self.ok:
            worst = self.bad[0]
            raise CheckFailed(f"{self.summary()}\n{self._text()}", worst.name, worst.stats)

    def summary(self) -> str:
        count = f"{_core.grouped(len(self.rows))} {'tensor' if len(self.rows) == 1 else 'tensors'}"
        if self.ok:
            return f"{self.what}: {count}, all finite; total norm {number(self.total_norm)}"
        worst = self.bad[0]
        return (
            f"{self.what}: {_core.grouped(len(self.bad))} of {count} not finite; "
            f"the worst is {worst.name}: {counted(worst.stats)}"
        )

    def __str__(self) -> str:
        return f"{self.summary()}\n{self._text()}"

    def _text(self) -> str:
        lines = [as_text(HEAD, [row.cells() for row in self.rows[:MOST_ROWS]], LEFT)]
        return "\n".join(lines + self._below())

    def _below(self) -> list[str]:
        lines = []
        if len(self.rows) > MOST_ROWS:
            lines.append(f"... and {len(self.rows) - MOST_ROWS} more, none of them worse")
        if self.missing:
            names = ", ".join(self.missing[:4]) + (", ..." if len(self.missing) > 4 else "")
            lines.append(f"without a gradient: {_core.grouped(len(self.missing))} ({names})")
        return lines

    def _repr_html_(self) -> str:
        from html import escape

        shown = self.rows[:MOST_ROWS]
        colors = [RED if not row.ok else AMBER if row.remarks else "" for row in shown]
        table = as_html(HEAD, [row.cells() for row in shown], LEFT, colors)
        below = "".join(f"<div>{escape(line)}</div>" for line in self._below())
        return f"<div><b>{escape(self.summary())}</b></div>{table}{below}"


def check_weights(model: torch.nn.Module) -> ParameterTable:
    """The parameters of a model."""
    return _table("weights", _parameters(model, "check_weights"))


def check_gradients(model: torch.nn.Module) -> ParameterTable:
    """The gradients that the last backward() left in the parameters of a model."""
    parameters = list(_parameters(model, "check_gradients"))
    gradients = [(name, p.grad) for name, p in parameters if p.grad is not None]
    if not gradients:
        raise ValueError(
            "check_gradients(model): no parameter has a gradient; call it after backward() and "
            "before zero_grad()."
        )
    missing = (name for name, p in parameters if p.grad is None and p.requires_grad)
    return _table("gradients", gradients, missing)


def check_optimizer(
    optimizer: torch.optim.Optimizer, model: torch.nn.Module | None = None
) -> ParameterTable:
    """The state of an optimizer (Adam's moments, momentum) and its numbers, such as lr.

    The model gives the parameters their names.
    """
    if not isinstance(getattr(optimizer, "param_groups", None), list):
        raise Unreadable(f"check_optimizer takes an optimizer, not {_a(optimizer)}.")
    rows = [*_hyperparameters(optimizer), *_state(optimizer, _names(optimizer, model))]
    if not rows:
        raise ValueError(
            f"{type(optimizer).__name__} has no state to check: it has made no step yet, or keeps "
            "none."
        )
    return _table("optimizer state", rows, speak_of_small=False)


def _parameters(model: object, function: str) -> Iterator[tuple[str, object]]:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise Unreadable(f"{function} takes a torch.nn.Module, not {_a(model)}.")
    found = list(model.named_parameters())
    if not found:
        raise ValueError(f"{function}: {type(model).__name__} has no parameters to check.")
    return iter(found)


def _a(value: object) -> str:
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def _hyperparameters(optimizer) -> Iterator[tuple[str, object]]:
    """Those that are not finite: a table of healthy ones would say nothing."""
    for i, group in enumerate(optimizer.param_groups):
        for name, value in group.items():
            if isinstance(value, float) and not math.isfinite(value):
                yield f"param_groups[{i}]['{name}']", value


def _state(optimizer, names: dict[int, str]) -> Iterator[tuple[str, object]]:
    for parameter, entries in optimizer.state.items():
        for key, value in entries.items() if isinstance(entries, dict) else ():
            if hasattr(value, "dtype") and not (key == "step" and value.dim() == 0):
                yield f"{names.get(id(parameter), '?')} {key}", value


def _names(optimizer, model) -> dict[int, str]:
    names: dict[int, str] = {}
    for i, group in enumerate(optimizer.param_groups):
        given = group.get("param_names") or [f"group {i}, {j}" for j in range(len(group["params"]))]
        names.update(zip(map(id, group["params"]), given, strict=True))
    if model is not None:
        names.update({id(p): name for name, p in model.named_parameters()})
    return names


def _table(
    what: str,
    tensors: Iterable[tuple[str, object]],
    missing: Iterable[str] = (),
    speak_of_small: bool = True,
) -> ParameterTable:
    rows = [_row(name, tensor, speak_of_small) for name, tensor in tensors]
    rows.sort(key=_badness)
    return ParameterTable(what, tuple(rows), _total(rows), tuple(missing))


def _row(name: str, tensor: object, speak_of_small: bool) -> ParameterRow:
    array = array_of(tensor, name)
    m, s = array.magnitudes(EXTREME, NEAR_ZERO), stats_of(tensor, name)
    all_zero = s.numel > 0 and s.zeros == s.numel
    constant = s.numel > 1 and s.ok and s.min == s.max and not all_zero
    remarks = []
    if len(s.shape) >= 2:
        if m.extreme:
            remarks.append("extreme")
        if all_zero:
            remarks.append("all zero")
        elif constant:
            remarks.append("constant")
        elif speak_of_small and m.largest is not None and m.largest < NEAR_ZERO:
            remarks.append("near zero")
    bad = [word for word, count in (("NaN", s.nan), ("Inf", s.pos_inf + s.neg_inf)) if count]
    return ParameterRow(
        name,
        s,
        m.norm,
        m.largest,
        m.smallest,
        m.extreme,
        m.near_zero,
        constant,
        all_zero,
        (*bad, *remarks),
    )


def _badness(row: ParameterRow) -> tuple:
    return -row.stats.bad, not row.remarks, -(row.largest or 0)


def _total(rows: list[ParameterRow]) -> float:
    if any(row.nan for row in rows):
        return math.nan
    if any(row.inf for row in rows):
        return math.inf
    return math.hypot(*(row.norm for row in rows))
