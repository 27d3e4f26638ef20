"""Runs the user's program in this interpreter as `python` itself would run it.

`run_script`, `run_module` and `run_code` stand for `python script.py`, `python -m name` and
`python -c text`: the same sys.argv, sys.path[0] and `__main__`, the same words for a file that
cannot be opened or compiled, the same traceback (none of our frames is in it) and the same exit
status. Nothing is ever written to stdout.

The end, in python's own order: the main code returns or raises; an uncaught exception is printed
through sys.excepthook; non-daemon threads are joined; atexit callbacks run; modules are torn down.
`run_*` returns between the third and the fourth: threads have finished, `__main__` is whole and no
atexit callback has run. That is where the caller judges the run. It joins the threads with
threading._shutdown(), the very function the interpreter calls there (its second call returns at
once), because it makes executors finish. After it concurrent.futures cannot be imported.

The caller then ends the process with `leave(ending)`, as the last thing it does: python dies of
SIGINT after an uncaught KeyboardInterrupt, but only once it has been torn down, and only if the
exception comes out of the interpreter's own main code.

The frames of the launcher would stay below the program's, where `traceback.print_stack` and a
warning with too large a stacklevel can see them. `call` hides them: it is given the function and
its arguments and has to call it, from C with the thread's current frame taken away.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import sys
from importlib._bootstrap_external import MAGIC_NUMBER
from types import ModuleType

from nanscope.run.ending import Ending, execute, join_threads, leave, not_compiled, say

# Every program pays for what is imported here: typing alone would double it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

    from nanscope.run.ending import Call, StopType

    Remember = Callable[[CodeType, bytes], object]

__all__ = ["Ending", "leave", "plain_call", "run_code", "run_module", "run_script"]


def plain_call(function: Call, *args: object) -> object:
    return function(*args)


def run_script(
    path: str,
    args: Sequence[str] = (),
    *,
    stop_type: StopType = (),
    call: Call = plain_call,
    remember: Remember | None = None,
    instead: Callable[[str], bytes | None] | None = None,
) -> Ending:
    """`python path args...`; path may be a file, a .pyc, a zipapp, a directory or `-`.

    `stop_type` is the exception with which the caller stops the program: uncaught, it prints
    nothing. `remember` gets the code of the main file and the bytes it was compiled from;
    `instead` may give other bytes than the file's.
    """
    sys.argv = [path, *args]
    if path == "-":
        return _run_file("<stdin>", sys.stdin.buffer.read(), "", stop_type, call, remember)
    full = _absolute(path)
    if _has_importer(full):
        _set_first_path(full, even_if_safe=True)
        return _run_main_module("__main__", False, stop_type, call)
    try:
        with open(full, "rb") as file:
            data = file.read()
    except OSError as error:
        # The name by which python was called stands in front, as python has it.
        reason = f"[Errno {error.errno}] {error.strerror}"
        say(f"{sys.orig_argv[0]}: can't open file {full!r}: {reason}")
        return Ending("exception", 2, error.with_traceback(None), started=False)
    if instead is not None:
        data = instead(full) or data
    folder = os.path.dirname(os.path.realpath(full))
    return _run_file(full, data, folder, stop_type, call, remember)


def run_module(
    name: str,
    args: Sequence[str] = (),
    *,
    stop_type: StopType = (),
    call: Call = plain_call,
) -> Ending:
    """`python -m name args...`"""
    sys.argv = ["-m", *args]  # until the module is found, as python has it
    _set_first_path(_working_directory())
    return _run_main_module(name, True, stop_type, call)


def run_code(
    text: str,
    args: Sequence[str] = (),
    *,
    stop_type: StopType = (),
    call: Call = plain_call,
    remember: Remember | None = None,
) -> Ending:
    """`python -c text args...`"""
    sys.argv = ["-c", *args]
    _set_first_path("")
    main = _fresh_main()
    try:
        code = compile(text, "<string>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        failure = error
    else:
        if remember:
            remember(code, text.encode("utf-8", "surrogateescape"))
        ending, _ = execute(exec, (code, vars(main)), code, stop_type, call, flush=False)
        return join_threads(ending, stop_type)
    return not_compiled(failure)


def _run_file(
    name: str,
    data: bytes,
    folder: str,
    stop_type: StopType,
    call: Call,
    remember: Remember | None,
) -> Ending:
    _set_first_path(folder)
    space = vars(_fresh_main())
    space.update(__file__=name, __cached__=None)
    try:
        code = _load(name, data, space)
    except (SyntaxError, ValueError, ImportError, EOFError) as error:
        failure = error
    else:
        if remember:
            remember(code, data)
        ending, exited = execute(exec, (code, space), code, stop_type, call, flush=True)
        if not exited:  # python takes these back, except on its way through sys.exit
            space.pop("__file__", None)
            space.pop("__cached__", None)
        return join_threads(ending, stop_type)
    return not_compiled(failure)


def _run_main_module(name: str, alter_argv: bool, stop_type: StopType, call: Call) -> Ending:
    import runpy  # python runs -m, directories and zipapps by this very function

    _fresh_main()
    run = runpy._run_module_as_main
    ending, _ = execute(run, (name, alter_argv), run.__code__, stop_type, call, flush=False)
    return join_threads(ending, stop_type)


def _load(name: str, data: bytes, space: dict[str, object]) -> CodeType:
    if name == "<stdin>":
        return _compile(data, name)
    if name.endswith(".pyc") or data.startswith(MAGIC_NUMBER):
        loader = importlib.machinery.SourcelessFileLoader("__main__", name)
        space["__loader__"] = loader
        return loader.get_code("__main__")
    space["__loader__"] = importlib.machinery.SourceFileLoader("__main__", name)
    return _compile(data, name)


def _compile(data: bytes, name: str) -> CodeType:
    """Compiles a main file. Where python says other words than compile() does, it says python's."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not _declares_encoding(data):
            line = data.count(b"\n", 0, error.start) + 1
            raise SyntaxError(
                f"Non-UTF-8 code starting with '\\x{data[error.start]:02x}' in file {name} on line"
                f" {line}, but no encoding declared; see https://peps.python.org/pep-0263/ for"
                " details"
            ) from None
    try:
        return compile(data, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        if error.lineno == 0:
            raise SyntaxError(error.msg.replace("unknown encoding", "encoding problem")) from None
        if b"\0" not in data or "null bytes" not in error.msg:
            raise
    except ValueError:  # before Python 3.11.4
        return _compile_as_read(data, name)
    before = data[: data.index(b"\0")].decode("utf-8", "replace").split("\n")
    where = (name, len(before), 0, before[-1])
    raise SyntaxError("source code cannot contain null bytes", where)


def _compile_as_read(data: bytes, name: str) -> CodeType:
    """As the Pythons did in whose files a null byte swallowed the rest of its line."""
    lines = (line.partition(b"\0")[0] for line in data.splitlines(keepends=True))
    try:
        return compile(b"".join(lines), name, "exec", dont_inherit=True)
    except SyntaxError as error:
        error.__context__ = None
        raise


def _declares_encoding(data: bytes) -> bool:
    """PEP 263: a byte order mark, or a comment on the first or second line."""
    head = [line.strip() for line in data.split(b"\n", 2)[:2]]
    comments = [line for line in head if line.startswith(b"#")]
    return data.startswith(b"\xef\xbb\xbf") or any(
        b"coding:" in line or b"coding=" in line for line in comments
    )


def _fresh_main() -> ModuleType:
    """An empty `__main__` as the interpreter makes it, in place of the launcher's."""
    main = ModuleType("__main__")
    vars(main).update(__annotations__={}, __builtins__=builtins)
    main.__loader__ = importlib.machinery.BuiltinImporter
    _launchers.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return main


def _absolute(path: str) -> str:
    """As python does it: the working directory in front, and nothing tidied."""
    return os.path.join(_working_directory(), path)


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it is gone


def _has_importer(path: str) -> bool:
    """Whether path is a place to import from, a directory or a zip file."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def _set_first_path(entry: str, even_if_safe: bool = False) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = entry  # the launcher's own folder stood here
    elif even_if_safe:
        sys.path.insert(0, entry)


_launchers: list[ModuleType] = []  # kept whole: their functions are still running
