"""Puts the watch into torch, without a change to the program.

The kernels are wrapped by the C++ adapter. What no kernel shows is seen by hooks that torch itself
offers (optimizer steps, module registration) and by a few stand-ins. A stand-in is a C function or
a descriptor that returns the original: a traceback of the program never shows a frame of ours.
"""

from __future__ import annotations

import os
import weakref
from functools import partial

from nanscope import _core, support
from nanscope.errors import ChildStop, Stop
from nanscope.outside.stand_ins import StandIn, noted
from nanscope.run.stopping import Stopping

# By these a storage is moved into memory that other processes may write.
MOVES = ("_share_fd_cpu_", "_share_filename_cpu_")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nanscope.run.choice import Choice
    from nanscope.run.settings import Settings


class _Noted:
    """A method that is noted when it is taken from an object, and then is the original."""

    def __init__(self, original: object, note: Callable[[object], None]) -> None:
        self.original = original
        self.note = note
        self.__doc__ = getattr(original, "__doc__", None)
        self.__name__ = getattr(original, "__name__", "")

    def __get__(self, instance: object, owner: type | None = None):
        if instance is not None:
            self.note(instance)
        return self.original.__get__(instance, owner)

    def __getattr__(self, name: str):
        return getattr(self.original, name)

    def __call__(self, *args, **kwargs):
        if args:
            self.note(args[0])
        return self.original(*args, **kwargs)


class _Optimizers:
    """Optimizers as they are made; the adapter learns their parameters once they have some."""

    def __init__(self, adapter: ModuleType) -> None:
        self.adapter = adapter
        self.new: list[weakref.ref] = []  # made or grown since the adapter was told
        self.seen: weakref.WeakSet = weakref.WeakSet()
        self.announced: weakref.WeakSet = weakref.WeakSet()

    def made(self, optimizer: object) -> None:
        if optimizer not in self.seen:
            self.seen.add(optimizer)
            self.new.append(weakref.ref(optimizer))

    def grown(self, optimizer: object) -> None:
        """It gets a group; one that is being made gets its first."""
        if optimizer in self.announced:
            self.new.append(weakref.ref(optimizer))
        else:
            self.made(optimizer)

    def tell_new(self) -> None:
        if not self.new:
            return
        waiting, self.new = self.new, []
        for reference in waiting:
            optimizer = reference()
            if optimizer is not None and getattr(optimizer, "param_groups", None):
                self.tell_of(optimizer)

    def tell_of(self, optimizer: object) -> None:
        if optimizer in self.announced:
            self.adapter.optimizer_found(optimizer)
            return
        self.seen.add(optimizer)
        self.announced.add(optimizer)
        self.adapter.optimizer_made(optimizer)

    def dropped(self, optimizer: object, *_: object) -> None:
        self.tell_new()
        if getattr(optimizer, "param_groups", None):
            self.adapter.gradients_dropped(optimizer)


def connect_exact(
    torch: ModuleType, adapter: ModuleType, settings: Settings, choice: Choice | None = None
) -> None:
    """Puts the hooks and wrappers in and switches the watch on."""
    stopping = Stopping(settings, adapter)
    connect(torch, adapter, settings.main_file, stopping, settings.steps, choice)
    adapter.install()
    _stop_with_threads()
    adapter.watch(True)


def connect_sentinel(
    torch: ModuleType,
    adapter: ModuleType,
    settings: Settings,
    exception_for: Callable[[int | None], BaseException | None],
    before_workers: Callable[[object], None],
) -> None:
    """Puts the hooks in alone: no kernel is wrapped before something is to be watched."""
    hooks = connect(torch, adapter, settings.main_file, exception_for, settings.steps)
    hooks.tell_sentinel(torch, adapter, before_workers)
    _stop_with_threads()


def load(torch: ModuleType) -> ModuleType | str:
    """The adapter, or a sentence that says why there is none."""
    problem = support.torch_problem(torch.__version__)
    if problem is not None:
        return problem
    try:
        from nanscope import _torch as adapter
    except ImportError as error:
        return f"nanscope's torch adapter cannot be loaded, install nanscope again: {error}"
    return adapter


def connect(
    torch: ModuleType,
    adapter: ModuleType,
    main_file: str | None,
    exception_for: Callable[[int | None], BaseException | None],
    steps: int = 0,
    choice: Choice | None = None,
) -> Hooks:
    """The hooks; what Python holds of them can be taken out again."""
    from nanscope.moments import left_loops
    from nanscope.outside import numpy_reports  # noqa: F401  see ahead.py
    from nanscope.outside.arrivals import arrivals
    from nanscope.ranks.board import board
    from nanscope.telling import ahead, module_tree, remade, story
    from nanscope.telling.allowances import allowances
    from nanscope.telling.intent import tests_for_nonfinite
    from nanscope.telling.memory import takes_memory
    from nanscope.telling.numbers import given_at, spells
    from nanscope.telling.stack import is_user_code

    def is_users(filename: str) -> bool:
        return is_user_code(filename, main_file)

    ahead.import_all()
    arrivals.connect(adapter)
    storyteller = story.Storyteller(main_file, adapter.storage_numbers)
    adapter.configure(
        adapter.Configuration(
            is_user_code=is_users,
            spells=partial(spells, is_users),  # adds no frame
            given_at=partial(given_at, is_users),
            takes_memory=partial(takes_memory, is_users),
            optimizer=torch.optim.Optimizer,
            torch_folder=os.path.dirname(os.path.abspath(torch.__file__)) + os.sep,
            describe=storyteller.describe,
            name=storyteller.name_of_storage,
            modules=module_tree.rows,
            make_again=remade.make_again,
            whence=arrivals.whence,
            exception_for=exception_for,
            tests_for_nonfinite=tests_for_nonfinite,
            allows=allowances.reason_for,
            on_read=left_loops.begin(adapter, is_users).bad_read,
            steps=steps,
        )
    )
    adapter.configure_ranks(board.join, board.give, board.ask, board.leave)
    return Hooks(torch, adapter, choice)


class Hooks:
    """Hooks and stand-ins in torch's Python code."""

    def __init__(self, torch: ModuleType, adapter: ModuleType, choice: Choice | None) -> None:
        self.undo: list[Callable[[], object]] = []
        self.optimizers = _Optimizers(adapter)
        self._backward(torch, adapter, choice)
        self._optimizers(torch, adapter)
        self._modules(torch, adapter)
        self._values(torch, adapter)
        self._shared_memory(torch, adapter)
        self._late_kernels(torch, adapter)
        self._loaders()
        self._compiler(adapter)
        self._pipelines(adapter)

    def remove(self) -> None:
        """Torch is as it was."""
        while self.undo:
            self.undo.pop()()

    def _put(self, owner: object, name: str, value: object) -> None:
        inherited = name not in vars(owner)
        before = getattr(owner, name)
        setattr(owner, name, value)
        if inherited:
            self.undo.append(lambda: delattr(owner, name))
        else:
            self.undo.append(lambda: setattr(owner, name, before))

    def _backward(self, torch: ModuleType, adapter: ModuleType, choice: Choice | None) -> None:
        # Both backward() and grad() end in this function.
        from nanscope.compiled import attach as compiled

        def before() -> None:
            self.optimizers.tell_new()
            compiled.backward_begins()

        if choice is not None:
            before = choice.looking_before(before)
        adapter.take_engine(torch.autograd._engine_run_backward, before)
        self._put(torch.autograd, "_engine_run_backward", adapter.run_backward)
        self._put(torch.autograd.graph, "_engine_run_backward", adapter.run_backward)

    def _optimizers(self, torch: ModuleType, adapter: ModuleType) -> None:
        from torch.optim import optimizer as optim

        before = optim.register_optimizer_step_pre_hook(adapter.step_pre_hook)
        after = optim.register_optimizer_step_post_hook(adapter.step_post_hook)
        self.undo += [before.remove, after.remove]
        kind, optimizers = torch.optim.Optimizer, self.optimizers
        self._put(kind, "__init__", _Noted(kind.__init__, optimizers.made))
        self._put(kind, "add_param_group", _Noted(kind.add_param_group, optimizers.grown))
        self._put(kind, "zero_grad", noted(kind.zero_grad, optimizers.dropped))

    def _modules(self, torch: ModuleType, adapter: ModuleType) -> None:
        from torch.nn.modules import module as modules

        parameters = modules.register_module_parameter_registration_hook(adapter.register_parameter)
        buffers = modules.register_module_buffer_registration_hook(adapter.register_buffer)
        self.undo += [parameters.remove, buffers.remove]
        Module = torch.nn.Module
        adapter.take_module(Module.__setstate__, Module._apply)
        self._put(Module, "__setstate__", StandIn(adapter.set_module_state, Module.__setstate__))
        self._put(Module, "_apply", StandIn(adapter.apply_to_module, Module._apply))
        adapter.take_swapper(torch._C._swap_tensor_impl)
        self._put(torch._C, "_swap_tensor_impl", adapter.swap_tensors)

    def tell_sentinel(
        self, torch: ModuleType, adapter: ModuleType, before_workers: Callable[[object], None]
    ) -> None:
        """What wrapped kernels would tell of, and the moment before a loader starts its workers."""
        for name in ("item", "__float__"):
            self._put(torch.Tensor, name, adapter.number_method(getattr(torch.Tensor, name)))
        from torch.amp.grad_scaler import GradScaler
        from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter as Workers

        self._put(GradScaler, "update", noted(GradScaler.update, adapter.scaler_updates))
        self._put(Workers, "__init__", _Noted(Workers.__init__, before_workers))

    def _values(self, torch: ModuleType, adapter: ModuleType) -> None:
        # Values that go to Python.
        Tensor = torch.Tensor
        self._put(Tensor, "numpy", noted(Tensor.numpy, adapter.lent))
        self._put(Tensor, "tolist", noted(Tensor.tolist, adapter.host_read))
        # pickle and torch.save, deepcopy: bytes are copied without an op.
        for name in ("__reduce_ex__", "__deepcopy__"):
            original = getattr(Tensor, name)
            self._put(Tensor, name, noted(original, adapter.copied_out))
        import torch._tensor_str as printing

        adapter.take_printer(printing._str)
        self._put(printing, "_str", adapter.print_tensor)

        # Values that go to another process.
        from multiprocessing.reduction import ForkingPickler

        from torch.multiprocessing import reductions

        table, reduce = ForkingPickler._extra_reducers, reductions.reduce_tensor
        handing = _core.Around(reduce, before=adapter.handed_over)
        kinds = [kind for kind, reducer in table.items() if reducer is reduce]
        table.update(dict.fromkeys(kinds, handing))
        self.undo.append(lambda: table.update(dict.fromkeys(kinds, reduce)))

    def _loaders(self) -> None:
        """Which samples a batch is made of, in the process that fetches them."""
        from torch.utils.data._utils.fetch import _MapDatasetFetcher as Fetcher

        from nanscope.outside.arrivals import arrivals

        self._put(Fetcher, "fetch", noted(Fetcher.fetch, arrivals.loaders.fetches))

    def _compiler(self, adapter: ModuleType) -> None:
        """Regions that torch.compile makes, from here on."""
        from nanscope.compiled import attach as compiled

        compiled.begin(adapter, self._put)

    def _pipelines(self, adapter: ModuleType) -> None:
        """What a stage runs on memory that nobody has written."""
        from nanscope.moments import pipelines

        def stand_in(owner: type, name: str, function: Callable) -> None:
            self._put(owner, name, StandIn(function, getattr(owner, name)))

        pipelines.begin(adapter, stand_in)

    def _late_kernels(self, torch: ModuleType, adapter: ModuleType) -> None:
        Library, Namespace = torch.library.Library, torch._ops._OpNamespace
        adapter.take_library(Library.impl)
        self._put(Library, "impl", StandIn(adapter.implement, Library.impl))
        # A library that is loaded may put kernels in the place of wrapped ones.
        import _imp
        import ctypes

        for owner, name in ((_imp, "create_dynamic"), (ctypes, "_dlopen")):
            load = _core.Around(getattr(owner, name), after=adapter.library_loaded)
            self._put(owner, name, load)
        # torch.ops.my.op, when it is asked for first: an extension was loaded before.
        self._put(Namespace, "__getattr__", noted(Namespace.__getattr__, adapter.wrap_new_ops))

    def _shared_memory(self, torch: ModuleType, adapter: ModuleType) -> None:
        # An address in other hands: ctypes, Numba, another library; a tensor in another library.
        Tensor, Untyped = torch.Tensor, torch.UntypedStorage
        for kind in (Tensor, Untyped, torch.TypedStorage):
            self._put(kind, "data_ptr", noted(kind.data_ptr, adapter.address_given))
        typed = torch.TypedStorage
        self._put(typed, "_data_ptr", noted(typed._data_ptr, adapter.address_given))
        self._put(Tensor, "__dlpack__", noted(Tensor.__dlpack__, adapter.lent))
        to_dlpack = _core.Around(torch.utils.dlpack.to_dlpack, before=adapter.lent)
        self._put(torch.utils.dlpack, "to_dlpack", to_dlpack)
        self._put(torch, "to_dlpack", to_dlpack)
        exchange = "__dlpack_c_exchange_api__"
        if hasattr(Tensor, exchange):
            self._put(Tensor, exchange, adapter.noted_exchange(getattr(Tensor, exchange)))
        # Bytes of a storage, written without an op; memory that other processes get.
        for name in ("__setitem__", "fill_", "byteswap", "resize_", *MOVES):
            original = getattr(Untyped, name)
            self._put(Untyped, name, noted(original, adapter.bytes_written))


def _stop_with_threads() -> None:
    """A thread that is stopped has nothing to print, and the program stops with it."""
    import threading

    original = threading.excepthook

    def hook(args) -> None:
        if not issubclass(args.exc_type, (Stop, ChildStop)):
            original(args)
        elif threading.main_thread().ident is not None:
            _core.raise_in_main(args.exc_value, threading.main_thread().ident)

    threading.excepthook = hook
