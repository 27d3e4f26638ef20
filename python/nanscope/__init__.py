"""nanscope finds the first operation that made a NaN or Inf in a PyTorch program, and says why."""

from nanscope.errors import ChildStop, NonFiniteError, Stop

__all__ = ["ChildStop", "NonFiniteError", "Stop"]


def __getattr__(name: str) -> str:
    # Asked for by few; the shared library is not loaded for it at import.
    if name == "__version__":
        from nanscope import _core

        return _core.__version__
    raise AttributeError(f"module 'nanscope' has no attribute {name!r}")
