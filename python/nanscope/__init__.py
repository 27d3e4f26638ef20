"""nanscope finds the first operation that made a NaN or Inf in a PyTorch program, and says why."""

from nanscope.errors import CheckFailed, ChildStop, NonFiniteError, Stop, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.api.allow import allow as allow
    from nanscope.api.batches import BatchSearch as BatchSearch
    from nanscope.api.batches import find_first_bad_batch as find_first_bad_batch
    from nanscope.api.check import check as check
    from nanscope.api.checkpoints import CheckpointSearch as CheckpointSearch
    from nanscope.api.checkpoints import bisect_checkpoints as bisect_checkpoints
    from nanscope.api.forward_hooks import ForwardHooks as ForwardHooks
    from nanscope.api.forward_hooks import ModuleFinding as ModuleFinding
    from nanscope.api.forward_hooks import forward_hooks as forward_hooks
    from nanscope.api.parameters import ParameterRow as ParameterRow
    from nanscope.api.parameters import ParameterTable as ParameterTable
    from nanscope.api.parameters import check_gradients as check_gradients
    from nanscope.api.parameters import check_optimizer as check_optimizer
    from nanscope.api.parameters import check_weights as check_weights
    from nanscope.api.samples import SampleSearch as SampleSearch
    from nanscope.api.samples import bisect_samples as bisect_samples
    from nanscope.api.statistics import Stats as Stats
    from nanscope.api.statistics import stats as stats
    from nanscope.api.watch import WatchBlock as WatchBlock
    from nanscope.api.watch import watch as watch
    from nanscope.findings import Finding as Finding
    from nanscope.numpy.watch import NumpyErrors as NumpyErrors
    from nanscope.numpy.watch import numpy_errors as numpy_errors

    __version__: str

# Where each name is: loaded when it is first asked for, so that `import nanscope` costs nothing.
_HOME = {
    "watch": "api.watch",
    "WatchBlock": "api.watch",
    "allow": "api.allow",
    "check": "api.check",
    "check_gradients": "api.parameters",
    "check_optimizer": "api.parameters",
    "check_weights": "api.parameters",
    "ParameterRow": "api.parameters",
    "find_first_bad_batch": "api.batches",
    "BatchSearch": "api.batches",
    "bisect_samples": "api.samples",
    "SampleSearch": "api.samples",
    "bisect_checkpoints": "api.checkpoints",
    "CheckpointSearch": "api.checkpoints",
    "Finding": "findings",
    "numpy_errors": "numpy.watch",
    "NumpyErrors": "numpy.watch",
    "forward_hooks": "api.forward_hooks",
    "ForwardHooks": "api.forward_hooks",
    "ModuleFinding": "api.forward_hooks",
    "ParameterTable": "api.parameters",
    "stats": "api.statistics",
    "Stats": "api.statistics",
}

_FOR_TOOLS = {"load_ipython_extension": "integrations.jupyter"}  # `%load_ext nanscope` asks for it

__all__ = ["CheckFailed", "ChildStop", "NonFiniteError", "Stop", "Unreadable", *_HOME]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__version__":
        return import_module("nanscope._core").__version__
    home = _HOME.get(name) or _FOR_TOOLS.get(name)
    if home is None:
        raise AttributeError(f"module 'nanscope' has no attribute {name!r}")
    value = getattr(import_module(f"nanscope.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
