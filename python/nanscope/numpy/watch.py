"""`numpy_errors`: the first NumPy operation that made a NaN or Inf, with its operands and why.

NumPy looks at the processor's floating-point flags after each operation; its errstate tells the
kind and no more. Here its report is the moment to look: the frame that ran the operation still
holds the operands.
"""

from __future__ import annotations

import json
import sys
from contextlib import ContextDecorator
from typing import Literal

from nanscope import _core
from nanscope.errors import NonFiniteError
from nanscope.findings import Finding
from nanscope.numpy.poison import Poison
from nanscope.outside import numpy_reports as reports
from nanscope.run.ending import say
from nanscope.telling import source
from nanscope.telling.story import Storyteller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from nanscope.outside import numpy_operands as operands


class NumpyErrors(ContextDecorator):
    """A block in which NumPy's first NaN or Inf is named; `finding` is it, or None."""

    def __init__(
        self, on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise"
    ) -> None:
        if not callable(on_find) and on_find not in ("raise", "report"):
            raise ValueError(f'on_find is "raise", "report" or a function, not {on_find!r}.')
        self.on_find = on_find
        self.finding: Finding | None = None
        self._teller = Storyteller(None, None)
        self._entered: list = []

    def __enter__(self) -> NumpyErrors:
        import numpy

        if _active:
            raise RuntimeError("numpy_errors() is already on: one block at a time.")
        _active.append(self)
        self.finding = None
        self._poison = Poison()
        state = numpy.errstate(
            divide="log", invalid="log", over="log", under="ignore", call=_Log(self)
        )
        state.__enter__()
        self._entered.append(state)
        self._poison.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self._poison.end()
        self._entered.pop().__exit__(*error)
        _active.remove(self)

    def take_report(self, message: str, frame: FrameType) -> None:
        if self.finding is not None:
            return
        import numpy

        try:
            with numpy.errstate(all="ignore"):  # our own work is none of its business
                text, self.finding = self._describe(message, frame)
        except Exception as error:
            say(f"nanscope could not describe a NumPy error, a fault of its own: {error!r}")
            return
        if callable(self.on_find):
            self.on_find(self.finding)
        elif self.on_find == "raise":
            raise NonFiniteError(text, self.finding)
        else:
            say(text)

    # ----------------------------------------------------------------------- the finding
    def _describe(self, message: str, frame: FrameType) -> tuple[str, Finding]:
        facts, read = reports.describe(message, frame, self._teller)
        self._blame_memory(facts, read)
        as_json, text = _core.tell(facts)
        return text, Finding.from_json(json.loads(as_json))

    def _blame_memory(self, facts: dict, read: operands.Expression) -> None:
        """An operand that np.empty gave and nobody wrote: its allocation is the origin."""
        for given in read.operands:
            found = self._poison.place_of(given.value)
            if found is None:
                continue
            (code, offset), index = found
            facts["read_by"] = [{"op": facts["op"], "site": facts["site"]}]
            facts["site"] = self._teller.fields_of(source.locate(code, offset))
            facts["op"], facts["kind"] = "numpy::empty", "uninitialised"
            facts["indices"], facts["value"] = [list(index)], float("nan")
            facts["outputs"] = [reports.tensor(given.text, "", given.value, "")]
            return


class _Log:
    """What NumPy writes its reports to; the frame below `write` is the one that ran the op."""

    def __init__(self, owner: NumpyErrors) -> None:
        self.owner = owner

    def write(self, message: str) -> None:
        self.owner.take_report(message, sys._getframe(1))


_active: list[NumpyErrors] = []


def numpy_errors(
    on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise",
) -> NumpyErrors:
    """A block (or decorator) in which NumPy's first NaN or Inf is named.

    "raise" raises `NonFiniteError` at its line; "report" prints it to stderr and goes on; a
    callable is given the finding. Memory from `np.empty` is filled with signalling NaNs, so that
    reading it unwritten is found too.
    """
    return NumpyErrors(on_find)
