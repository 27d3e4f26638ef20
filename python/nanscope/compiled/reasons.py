"""What is said of a bad value that a replay does not explain."""

from __future__ import annotations

MADE_BY = "a region compiled by torch.compile made it, from {}"
NOT_AGAIN = "; it could not be run again eagerly: {}"
ONLY_COMPILED = (
    "; run again eagerly on the same inputs it gives no such value, so it is not known where"
)
LET_GO = "its inputs were let go of after its first backward"
WRITTEN = "one of its inputs was written since"
BY_WAYS = "its gradients arrive by ways that a replay cannot follow"
TALKS = "it talks to other ranks, which would not answer twice"
MODULES = "it calls modules that keep values of their own"
OTHER_NUMBERS = "it draws random numbers that a replay cannot draw again"
# Why a region was not looked at: words of the coverage.
NO_GRAPH = "the graph could not be kept"
UNKNOWN = "this version of torch's compiler is not known"
BEFORE = "compiled before the watch began"
PACKAGE = "a package of AOTInductor holds no graph"
OTHER_BACKEND = "torch.compile handed them to a backend that is not known"
NO_NODE = "the backward could not be followed"
FAULT = "a fault of nanscope's own: {!r}"


class CannotReplay(Exception):
    """Says why."""
