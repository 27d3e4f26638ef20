"""What is said of a bad value that a replay does not explain."""

from __future__ import annotations

MADE_BY = "a region compiled by torch.compile made it, from {}"
MADE_BY_OPAQUE = "compiled code that no replay can look into made it: {}; its inputs are finite"
SAVED = "a compiled region computed it in the forward, and kept it for the backward"
NOT_AGAIN = "; it could not be run again eagerly: {}"
ONLY_COMPILED = (
    "; run again eagerly on the same inputs it gives no such value, so it is not known where"
)
NOT_REPEATED = (
    "; run again on the same inputs it gives no such value, neither eagerly nor compiled: memory "
    "that nobody has written, or another thread, may be behind it"
)
UNWRITTEN = "; it reads memory that nobody has written"
NOT_MATCHED = "; which of the values of a replay it is, is not known"
LET_GO = "its inputs were let go of after its first backward"
WRITTEN = "one of its inputs was written since"
BY_WAYS = "its gradients arrive by ways that a replay cannot follow"
TALKS = "it talks to other ranks, which would not answer twice"
WRITES_HELD = "it writes tensors that it holds itself"
HOLDS_LEAVES = "it holds parameters itself"
MODULES = "it calls modules that keep values of their own"
OTHER_NUMBERS = "it draws random numbers that a replay cannot draw again"
# Why a region was not looked at: words of the coverage.
NO_GRAPH = "the graph could not be kept"
UNKNOWN = "this version of torch's compiler is not known"
BEFORE = "compiled before the watch began"
PACKAGE = "a package of AOTInductor holds no graph"
PRECOMPILED = "what was compiled ahead of the run holds no graph"
OTHER_BACKEND = "a backend that is not known computes their gradients by itself"
FAULT = "a fault of nanscope's own: {!r}"


class CannotReplay(Exception):
    """Says why."""

    @classmethod
    def of(cls, error: Exception) -> CannotReplay:
        first = (str(error).splitlines() or [""])[0]
        return cls(f"{type(error).__name__}: {first}")
