"""Puts the watch over compiled regions into torch's compiler, when that is imported.

Dynamo reads the program and makes a graph of it; the graph is kept, with the place of each call,
before a backend compiles it. So every backend and every cache of compiled code is alike to us.
"""

from __future__ import annotations

import functools
import sys
import threading

from nanscope.compiled.reasons import (
    BEFORE,
    NO_GRAPH,
    PACKAGE,
    PRECOMPILED,
    UNKNOWN,
)
from nanscope.outside.arrivals import arrivals
from nanscope.run.imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nanscope.compiled.backward_again import Waiting

    Put = Callable[[object, str, object], None]


class Compiler:
    """What is known of the regions of this process."""

    def __init__(self, adapter: ModuleType) -> None:
        self.adapter = adapter
        self.unseen: dict[str, int] = {}  # regions that are not looked at, by the reason
        self.is_known = True  # this version of torch's compiler is as ours knows it
        self.waiting: Waiting | None = None  # for a backward; made with the first region
        self.now = threading.local()  # `aot`: what AOTAutograd knows of the one being compiled

    @property
    def misses_some(self) -> bool:
        return bool(self.unseen) or not self.is_known

    def count(self, why: str) -> None:
        self.unseen[why] = self.unseen.get(why, 0) + 1


compiler: Compiler | None = None  # of this process
_kept = 0  # graphs, by this and earlier watches


def begin(adapter: ModuleType, put: Put) -> None:
    """`put(owner, name, value)` puts a stand-in, and knows how to take it out again."""
    global compiler
    compiler = Compiler(adapter)
    before = _compiled_so_far() - _kept
    if before > 0:
        compiler.unseen[BEFORE] = before
    arrivals.regions_unseen = lambda: compiler.misses_some
    for name, stand_in in (
        ("torch._dynamo.output_graph", _of_dynamo),
        ("torch._functorch._aot_autograd.runtime_wrappers", _of_aot),
        ("torch.export.pt2_archive._package", _of_packages),
        ("torch._dynamo.package", _of_precompiled),
        ("torch._dynamo.aot_compile", _of_ahead),
        ("torch._dynamo.trace_rules", _of_frames),
    ):
        when_imported(name, functools.partial(_stand_in, compiler, put, stand_in))


def _stand_in(compiler: Compiler, put: Put, stand_in: Callable, module: ModuleType) -> None:
    try:
        stand_in(compiler, put, module)
    except AttributeError:
        compiler.is_known = False


def backward_begins() -> None:
    if compiler is not None and compiler.waiting is not None:
        compiler.waiting.backward_begins()


def gaps() -> list[tuple[str, str, int]]:
    """Regions that were not looked at."""
    if compiler is None or not compiler.is_known:
        compiled = _compiled_so_far()
        return [("compiled regions", UNKNOWN, compiled)] if compiled else []
    return [("compiled regions", why, count) for why, count in compiler.unseen.items()]


def _compiled_so_far() -> int:
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo.counters["stats"]["unique_graphs"] if dynamo is not None else 0


def _of_dynamo(compiler: Compiler, put: Put, dynamo: ModuleType) -> None:
    tracer, output = dynamo.SubgraphTracer, dynamo.OutputGraph
    create = tracer.create_proxy

    @functools.wraps(create)
    def create_proxy(self, kind, *args, **kwargs):
        proxy = create(self, kind, *args, **kwargs)
        if kind.startswith("call_"):
            _note_places(self, proxy)
        return proxy

    put(tracer, "create_proxy", create_proxy)
    compile_graph = output.call_user_compiler

    @functools.wraps(compile_graph)
    def call_user_compiler(self, module, *args, **kwargs):
        return _compile(
            compiler, module, lambda: compile_graph(self, module, *args, **kwargs), self.compiler_fn
        )

    put(output, "call_user_compiler", call_user_compiler)


def _note_places(tracer: object, proxy: object) -> None:
    from nanscope.compiled import frames
    from nanscope.compiled.graphs import PLACES

    try:
        proxy.node.meta[PLACES] = frames.places_of(tracer.output_graph.current_tx)
    except (AttributeError, IndexError, TypeError):
        pass  # another version of the compiler: a call without a place of its own


def _compile(compiler: Compiler, module: object, compile_graph: Callable, backend: object):
    from nanscope.compiled.graphs import KeptGraph, forget_places

    global _kept
    try:
        graph = KeptGraph(module)
        _kept += 1
    except Exception:
        graph = None
    forget_places(module)
    compiler.now.aot = None
    as_given = str(module.graph)
    compiled = compiler.adapter.quietly(compile_graph)  # it computes nothing of the program's
    aot, compiler.now.aot = compiler.now.aot, None
    if graph is None:
        compiler.count(NO_GRAPH)
        return compiled
    if graph.is_empty:
        return compiled
    if compiled is module or getattr(compiled, "__self__", None) is module:
        # The backend is eager: every op is seen, now at its own line.
        if str(module.graph) == as_given:
            return functools.partial(graph.run.forward, *graph.held)
    from nanscope.compiled.backward_again import Waiting, is_in_compiled_autograd
    from nanscope.compiled.region import Region

    compiler.waiting = compiler.waiting or Waiting()
    # Of a backend of somebody's own: what it writes shows at its first call.
    writes = [info.mutates_data for info in aot.input_info] if aot is not None else None
    if aot is not None:
        graph.leave_out_dead()
    settings = _settings_of(backend)
    region = Region(compiler.adapter, compiled, graph, writes, compiler.count, compiler.waiting)
    region.settings, region.seeded = settings, _is_seeded(settings)
    region.in_backward = is_in_compiled_autograd()
    return region


def _is_seeded(settings: dict[str, object]) -> bool:
    """Inductor draws random numbers in its own way, unless it is told not to."""
    return bool(settings) and not settings.get("fallback_random")


def _settings_of(backend: object) -> dict[str, object]:
    """That inductor compiles with; nothing for others."""
    if "inductor" not in _backend_name(backend):
        return {}
    from nanscope.compiled.recompiled import settings_now

    while getattr(backend, "_torchdynamo_orig_backend", None) is not None:
        backend = backend._torchdynamo_orig_backend
    options = getattr(backend, "config", None)
    return settings_now(options if isinstance(options, dict) else None)


def _backend_name(backend: object) -> str:
    for name in ("compiler_name", "__name__"):
        found = getattr(backend, name, None)
        if isinstance(found, str) and found:
            return found
    inner = getattr(backend, "_torchdynamo_orig_backend", None)
    return _backend_name(inner) if inner is not None else ""


def _of_packages(compiler: Compiler, put: Put, packages: ModuleType) -> None:
    """AOTInductor's: they hold compiled code and no graph."""
    kind = getattr(packages, "AOTICompiledModel", None)
    if kind is not None:
        _look_behind(compiler, put, kind, PACKAGE)


def _of_frames(compiler: Compiler, put: Put, rules: ModuleType) -> None:
    """Code of ours is nothing to compile: hooks run in the midst of functions that partly are."""
    rules.add("nanscope")


def _of_ahead(compiler: Compiler, put: Put, ahead: ModuleType) -> None:
    """What `torch.compile(...).aot_compile` made, or what was loaded of it."""
    kind = getattr(ahead, "AOTCompiledFunction", None)
    if kind is not None:
        _look_behind(compiler, put, kind, PRECOMPILED)


def _look_behind(compiler: Compiler, put: Put, kind: type, why: str) -> None:
    run = kind.__call__

    @functools.wraps(run)
    def looked_at(self, *args, **kwargs):
        if not compiler.adapter.region_is_watched():
            return run(self, *args, **kwargs)
        from nanscope.compiled.opaque import look_at

        return look_at(compiler, why, run, self, *args, **kwargs)

    put(kind, "__call__", looked_at)


def _of_precompiled(compiler: Compiler, put: Put, packages: ModuleType) -> None:
    """Caches of whole functions (`caching_precompile`): no graph is made of what they hold."""
    kind = getattr(packages, "CompilePackage", None)
    if kind is None:
        return
    install = kind.install

    @functools.wraps(install)
    def counted(self, backends, *args, **kwargs):
        for _ in backends:
            compiler.count(PRECOMPILED)
        return install(self, backends, *args, **kwargs)

    put(kind, "install", counted)


def _of_aot(compiler: Compiler, put: Put, wrappers: ModuleType) -> None:
    """All backends of AOTAutograd, inductor among them."""
    post_compile = wrappers.RuntimeWrapper.post_compile

    @functools.wraps(post_compile)
    def noted(self, *args, **kwargs):
        compiler.now.aot = kwargs.get("runtime_metadata")
        return post_compile(self, *args, **kwargs)

    put(wrappers.RuntimeWrapper, "post_compile", noted)
    run = wrappers.call_func_at_runtime_with_args

    # What a compiled forward or backward does inside is its own affair; its results are looked at.
    @functools.wraps(run)
    def call_func_at_runtime_with_args(*args, **kwargs):
        return compiler.adapter.quietly(run, *args, **kwargs)

    put(wrappers, "call_func_at_runtime_with_args", call_func_at_runtime_with_args)
