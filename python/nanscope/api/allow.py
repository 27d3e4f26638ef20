"""Values that are meant to be non-finite."""

from __future__ import annotations

import sys
from contextlib import ContextDecorator

from nanscope.telling.allowances import allowances


class allow(ContextDecorator):
    """What is made non-finite in this block is meant, and is no error.

    with nanscope.allow("the range test goes on until it explodes"):
        find_learning_rate(model)

    Findings whose origin lies in it are notes, with `why`; how many there were is told, and also if
    there was none. Without nanscope's watch it does nothing.
    """

    def __init__(self, why: str = "") -> None:
        self.why = why
        self._around: list[int] = []

    def __enter__(self) -> allow:
        frame = sys._getframe(1)
        number = allowances.enter(frame.f_code.co_filename, frame.f_lineno, self.why)
        adapter = sys.modules.get("nanscope._torch")
        self._around.append(adapter.allow(number) if adapter is not None else 0)
        return self

    def __exit__(self, *_: object) -> None:
        around = self._around.pop()
        adapter = sys.modules.get("nanscope._torch")
        if adapter is not None:
            adapter.allow(around)
