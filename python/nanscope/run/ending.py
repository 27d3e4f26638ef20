"""How the program ended, said in python's own words: traceback, exit status, threads.

What the interpreter does in C when its main code has returned or raised, done in the same order
and with the same text, so that a caller can stand between the program's end and the teardown.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import NoReturn

    Call = Callable[..., object]
    StopType = type[BaseException] | tuple[type[BaseException], ...]

REAL_EXIT = os._exit


class Ending:
    """How the program ended.

    kind        "normally" (sys.exit too), "exception", "signal" (Ctrl-C) or "stopped" (by us)
    status      what the shell would have seen without nanscope; when stopped, 0 or what the
                program chose on its way out
    exception   what came out uncaught, SystemExit excepted
    started     False: it could not be opened, found or compiled, which has been said
    exit        the SystemExit with which it ended, if its status is not 0
    """

    def __init__(
        self,
        kind: str,
        status: int,
        exception: BaseException | None = None,
        started: bool = True,
        exit: SystemExit | None = None,
    ) -> None:
        self.kind = kind
        self.status = status
        self.exception = exception
        self.started = started
        self.exit = exit

    def __repr__(self) -> str:
        return f"Ending({self.kind!r}, {self.status}, {self.exception!r}, {self.started})"


def leave(ending: Ending, status: int | None = None) -> NoReturn:
    """Ends the process as the program would have ended, or with another status.

    Raises: let it pass through the launcher uncaught, for SystemExit and KeyboardInterrupt are
    the two ways out of an interpreter that still run atexit callbacks and tear it down.
    """
    if ending.kind == "signal" and status is None:
        sys.excepthook = lambda *_: None  # its traceback has been printed already
        raise KeyboardInterrupt
    sys.exit(ending.status if status is None else status)


def leave_at_once(status: int) -> NoReturn:
    """Ends the process after its atexit callbacks, without the teardown: a backend of
    torch.distributed may abort there when another rank has closed its connections.
    """
    import atexit

    atexit._run_exitfuncs()
    _flush()
    REAL_EXIT(status)


def execute(
    function: Call, args: tuple, begin: CodeType, stop_type: StopType, call: Call, flush: bool
) -> tuple[Ending, bool]:
    """Runs the main code and prints what came out of it; True if it was SystemExit.

    `begin` is the code whose frame opens the program's own traceback; `flush`: as python does for
    a file, and not for -m and -c, before it prints.
    """
    error: BaseException | None = None
    try:
        call(function, *args)
    except BaseException as caught:
        error = caught
    # From here on no exception is being handled, as in python when it calls sys.excepthook.
    try:
        if flush:
            _flush()
        return _ended(error, begin, stop_type), isinstance(error, SystemExit)
    finally:
        error = None  # its traceback leads back to this frame, and holds the program's locals


def _ended(error: BaseException | None, begin: CodeType, stop_type: StopType) -> Ending:
    if error is None:
        return Ending("normally", 0)
    while (top := error.__traceback__) is not None and top.tb_frame.f_code is not begin:
        error.__traceback__ = top.tb_next
    if isinstance(error, stop_type):
        error.__traceback__ = None  # or it would keep the program's locals alive
        return Ending("stopped", 0, error)
    if isinstance(error, SystemExit):
        if replaces_stop(error, stop_type):
            return Ending("stopped", _exit_status(error))
        # Raised by the first frame of runpy itself: it found no module to run.
        started = top is None or top.tb_next is not None or not _is_runpy(begin)
        status = _exit_status(error)
        return Ending("normally", status, started=started, exit=error if status else None)
    return _print_exception(error)


def replaces_stop(error: BaseException | None, stop_type: StopType) -> bool:
    """Whether it is our own exception, or was raised while that was on its way: in a `finally`, or
    by whoever caught it.
    """
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, stop_type):
            return True
        seen.add(id(error))
        error = error.__context__
    return False


def join_threads(ending: Ending, stop_type: StopType) -> Ending:
    """Joins the threads, as the interpreter does first when it ends."""
    threading = sys.modules.get("threading")
    if threading is None:
        return ending
    error: BaseException | None = None
    try:
        threading._shutdown()
    except BaseException as caught:
        error = caught
    if isinstance(error, stop_type):  # one of the threads was stopped
        error.__traceback__ = None
        return Ending("stopped", 0, error)
    if error is not None:
        error.__traceback__ = error.__traceback__.tb_next  # without this frame
        _print_ignored(error, threading)
    return ending


def not_compiled(error: Exception) -> Ending:
    error.__traceback__ = None
    ending = _print_exception(error)
    ending.started = False
    return ending


def say(text: str) -> None:
    """Writes to stderr; never to stdout, where print() would go if sys.stderr were None."""
    stream = sys.stderr or sys.__stderr__
    try:
        stream.write(text + "\n")
    except Exception:
        pass  # closed or gone: python says nothing either


def terminal_columns() -> int:
    """How wide the terminal is that `say` writes to; 100 if it is none."""
    try:
        return os.get_terminal_size(2).columns or 100
    except OSError:
        return 100


def write_text(place: str, text: str) -> None:
    """Where --json or --html says: a file, `-` for stdout, or nowhere."""
    if place == "-":
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except (OSError, ValueError, AttributeError):
            pass  # closed: the program's own affair
    elif place:
        try:
            with open(place, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            say(f"{place} could not be written: {error.strerror}.")


def _print_exception(error: BaseException) -> Ending:
    """What PyErr_Print does, and the ending that follows from it."""
    kind, traceback = type(error), error.__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback
    failure: BaseException | None = None
    try:
        hook = getattr(sys, "excepthook", _missing_hook)
        hook(kind, error, traceback)
    except BaseException as caught:
        failure = caught
    if failure is not None:
        failure.__traceback__ = failure.__traceback__.tb_next  # without this frame
        if isinstance(failure, SystemExit):
            return Ending("exception", _exit_status(failure), error)
        say("Error in sys.excepthook:")
        sys.__excepthook__(type(failure), failure, failure.__traceback__)
        say("\nOriginal exception was:")
        sys.__excepthook__(kind, error, traceback)
    if kind is KeyboardInterrupt:
        return Ending("signal", 130, error)
    return Ending("exception", 1, error)


def _missing_hook(*error: object) -> None:
    say("sys.excepthook is missing")
    sys.__excepthook__(*error)


def _print_ignored(error: BaseException, source: ModuleType) -> None:
    """What PyErr_WriteUnraisable does: the interpreter's answer to Ctrl-C while it joins."""
    kind, traceback = type(error), error.__traceback__
    if sys.unraisablehook is not sys.__unraisablehook__:
        from types import SimpleNamespace

        fields = {"exc_type": kind, "exc_value": error, "exc_traceback": traceback}
        sys.unraisablehook(SimpleNamespace(**fields, err_msg=None, object=source))
        return
    from traceback import format_tb

    frames = "".join(format_tb(traceback))
    say(
        f"Exception ignored in: {source!r}\nTraceback (most recent call last):\n{frames}"
        f"{kind.__name__}: {error}"
    )


def _exit_status(error: SystemExit) -> int:
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    try:
        text = str(code)
    except Exception:
        text = ""
    say(text)
    return 1


def _is_runpy(code: CodeType) -> bool:
    runpy = sys.modules.get("runpy")
    return runpy is not None and code is runpy._run_module_as_main.__code__


def _flush() -> None:
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except Exception:
            pass  # as python: the error is raised again, and reported, at the very end
