"""nanscope finds the first operation that made a NaN or Inf in a PyTorch program, and says why."""

from nanscope.errors import CheckFailed, ChildStop, NonFiniteError, Stop, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.batches import BatchSearch as BatchSearch
    from nanscope.batches import find_first_bad_batch as find_first_bad_batch
    from nanscope.block import WatchBlock as WatchBlock
    from nanscope.block import watch as watch
    from nanscope.checking import check as check
    from nanscope.checkpoints import CheckpointSearch as CheckpointSearch
    from nanscope.checkpoints import bisect_checkpoints as bisect_checkpoints
    from nanscope.findings import Finding as Finding
    from nanscope.hooks import ForwardHooks as ForwardHooks
    from nanscope.hooks import ModuleFinding as ModuleFinding
    from nanscope.hooks import forward_hooks as forward_hooks
    from nanscope.numpy_watch import NumpyErrors as NumpyErrors
    from nanscope.numpy_watch import numpy_errors as numpy_errors
    from nanscope.parameters import ParameterRow as ParameterRow
    from nanscope.parameters import ParameterTable as ParameterTable
    from nanscope.parameters import check_gradients as check_gradients
    from nanscope.parameters import check_optimizer as check_optimizer
    from nanscope.parameters import check_weights as check_weights
    from nanscope.samples import SampleSearch as SampleSearch
    from nanscope.samples import bisect_samples as bisect_samples
    from nanscope.statistics import Stats as Stats
    from nanscope.statistics import stats as stats

    __version__: str

# Where each name is: loaded when it is first asked for, so that `import nanscope` costs nothing.
_HOME = {
    "watch": "block",
    "WatchBlock": "block",
    "check": "checking",
    "check_gradients": "parameters",
    "check_optimizer": "parameters",
    "check_weights": "parameters",
    "ParameterRow": "parameters",
    "find_first_bad_batch": "batches",
    "BatchSearch": "batches",
    "bisect_samples": "samples",
    "SampleSearch": "samples",
    "bisect_checkpoints": "checkpoints",
    "CheckpointSearch": "checkpoints",
    "Finding": "findings",
    "numpy_errors": "numpy_watch",
    "NumpyErrors": "numpy_watch",
    "forward_hooks": "hooks",
    "ForwardHooks": "hooks",
    "ModuleFinding": "hooks",
    "ParameterTable": "parameters",
    "stats": "statistics",
    "Stats": "statistics",
}

__all__ = ["CheckFailed", "ChildStop", "NonFiniteError", "Stop", "Unreadable", *_HOME]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__version__":
        return import_module("nanscope._core").__version__
    if name not in _HOME:
        raise AttributeError(f"module 'nanscope' has no attribute {name!r}")
    value = getattr(import_module(f"nanscope.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
