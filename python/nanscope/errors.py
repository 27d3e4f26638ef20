"""What nanscope raises in the program."""

from __future__ import annotations


class NonFiniteError(ArithmeticError):
    """A NaN or Inf did harm here; `finding` is the finding, as the JSON report has it."""

    def __init__(self, message: str = "", finding: dict | None = None) -> None:
        super().__init__(message)
        self.finding = finding


class Stop(BaseException):
    """Ends the program where a non-finite value did harm, as Ctrl-C would."""


class ChildStop(NonFiniteError):
    """Ends a child process. Pools, loaders and spawn() hand it to the parent.

    A BaseException would not get there: a pool would wait for its worker for ever.
    """


for _public in (NonFiniteError, Stop, ChildStop):
    _public.__module__ = "nanscope"
