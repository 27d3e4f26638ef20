"""What nanscope raises in the program."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.api.statistics import Stats
    from nanscope.findings import Finding


class NonFiniteError(ArithmeticError):
    """A NaN or Inf did harm here; `finding` is the finding, with the fields of the JSON report."""

    def __init__(self, message: str = "", finding: Finding | None = None) -> None:
        super().__init__(message)
        self.finding = finding


class CheckFailed(NonFiniteError, ValueError):
    """A value that was checked is not what it should be.

    `path` leads to it (`out.logits[0]`), `stats` are its numbers.
    """

    def __init__(self, message: str = "", path: str = "", stats: Stats | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.stats = stats

    def __reduce__(self) -> tuple:
        return type(self), (str(self), self.path, self.stats)


class Unreadable(TypeError):
    """A value that cannot be looked into: on a device, or not made of numbers."""


class Stop(BaseException):
    """Ends the program where a non-finite value did harm, as Ctrl-C would."""


class ChildStop(NonFiniteError):
    """Ends a child process. Pools, loaders and spawn() hand it to the parent.

    A BaseException would not get there: a pool would wait for its worker for ever.
    """


for _public in (NonFiniteError, CheckFailed, Unreadable, Stop, ChildStop):
    _public.__module__ = "nanscope"


def kind_of(value: object) -> str:
    """For a sentence: an int, a str, None."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
