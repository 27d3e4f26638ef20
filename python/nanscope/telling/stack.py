"""Whose code a frame belongs to: the user's, a library's, or nobody's worth showing.

A name proves nothing: a path with `/torch/` in it need not be torch's. A file is a library's if it
really lies (symbolic links followed) in the standard library, in a site-packages folder, in the
package of the torch that is loaded or in nanscope itself, or if an installer's RECORD lists it
(`pip install --target`). So an editable install is the user's. A file that a library generated for
itself in the temporary folder is the library's.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType

    Frame = tuple[CodeType, int]  # the code, and the offset in bytes of its last instruction

# Names of code that a library makes out of strings; any other <name> is taken for the user's.
_MADE_BY_LIBRARIES = (
    "<frozen ",
    "<__array_function__",
    "<attrs generated",
    "<decorator-gen",
    "<eval_with_key>",
    "<lambdifygenerated",
)
_INSTALLED = {"site-packages", "dist-packages"}
_HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # nanscope itself
_STANDARD = os.path.dirname(os.path.realpath(os.__file__))
_LAUNCHERS = {os.path.join(_HERE, "run", name) for name in ("program.py", "ending.py")}


def is_user_code(filename: str, main_file: str | None = None) -> bool:
    """Whether this file is the user's own; the main file always is, wherever it lies."""
    if filename.startswith("<"):
        return not filename.startswith(_MADE_BY_LIBRARIES)
    key = filename, main_file, "torch" in sys.modules
    if key not in _known:
        real = _real(filename)
        is_main = main_file is not None and real == _real(main_file)
        _known[key] = is_main or not (_is_library(real) or _is_generated(real))
    return _known[key]


def has_seen(path: str) -> bool:
    """Whether code of this file (symbolic links followed) was on a stack that was looked at."""
    return any(_real(filename) == path for filename, *_ in _known)


def split_stack(
    frames: Sequence[Frame], main_file: str | None = None
) -> tuple[int | None, int | None]:
    """The frames to name, as indices: the site, and the library frame where the op stands.

    `frames` run from the innermost outwards. The site is the innermost of the user's; without one
    (a thread that a library started) the outermost there is. The second is the innermost frame of
    a package below the site: of torch itself only if no other package stands between, for its own
    Python files (torch/_tensor.py) say what every `1 / x` ends up in. Both are None for a stack
    with nothing to show.
    """
    shown = visible(frames)
    if not shown:
        return None, None
    mine = (i for i in shown if _is_users(frames[i][0], main_file) and not _hands_on(frames, i))
    site = next(mine, shown[-1])
    inner = [i for i in shown if i < site]
    packages = (i for i in inner if _is_of_a_package(frames[i][0].co_filename))
    return site, next(packages, inner[0] if inner else None)


def _is_of_a_package(filename: str) -> bool:
    """Whether the file is of an installed package, other than torch."""
    real = _real(filename)
    if filename.startswith("<") or not _is_library(real):
        return False
    if _is_below(real, _STANDARD) and _INSTALLED.isdisjoint(real.split(os.sep)):
        return False
    torch = getattr(sys.modules.get("torch"), "__path__", ())
    return not any(_is_below(real, os.path.realpath(folder)) for folder in torch)


def _hands_on(frames: Sequence[Frame], i: int) -> bool:
    """A tensor subclass or mode that stands in the middle of an expression and calls the very op:
    Note [A subclass stands between] in frames.cc.
    """
    if i == 0 or frames[i][0].co_name != "__torch_dispatch__":
        return False
    called = frames[i - 1][0].co_filename
    return called.endswith(os.path.join("torch", "_ops.py")) and _is_library(_real(called))


def _is_compiled(frames: Sequence[Frame], i: int) -> bool:
    """What torch.compile made of a function: its instructions have lost their lines. The compiler
    called it, and it calls the compiled graph.
    """
    if i == 0 or i + 1 == len(frames):
        return False
    inner, outer = frames[i - 1][0], frames[i + 1][0]
    called = _is_compiler(outer.co_filename) or _is_resumed(frames[i][0])
    return called and (_is_compiler(inner.co_filename) or _is_resumed(inner))


def _is_resumed(code: CodeType) -> bool:
    """What is left of a compiled function after a graph break."""
    return code.co_name.startswith("torch_dynamo_resume_in_")


def _is_compiler(filename: str) -> bool:
    return os.path.join("torch", "_dynamo", "") in filename and _is_library(_real(filename))


def visible(frames: Sequence[Frame]) -> list[int]:
    """The frames worth showing: not nanscope's, not those below it, not the import system's,
    not what the compiler made of a function.
    """
    shown = []
    for i, (code, _) in enumerate(frames):
        name = code.co_filename
        if name.startswith("<frozen "):
            continue
        real = _real(name)
        if real in _LAUNCHERS:
            break  # below are the command's own frames
        ours = _is_below(real, _HERE) or _is_import_system(real)
        if not ours and not _is_compiled(frames, i):
            shown.append(i)
    return shown


# Each gives the name of code that is in no file of its own (a notebook's cell), or None.
name_givers: list[Callable[[str], str | None]] = []


def display_path(path: str) -> str:
    """As the user would type it: relative to where the program was started, if it is below."""
    for name_of in name_givers:
        name = name_of(path)
        if name is not None:
            return name
    if path.startswith("<") or START_DIRECTORY is None:
        return path
    full = os.path.normpath(os.path.join(START_DIRECTORY, path))
    for candidate in (full, os.path.realpath(full)):
        if _is_below(candidate, START_DIRECTORY):
            return os.path.relpath(candidate, START_DIRECTORY)
    return full


def full_path(filename: str) -> str:
    """Where a code object's file is, though the program may have changed its directory."""
    return os.path.join(START_DIRECTORY or "", filename)


def _is_users(code: CodeType, main_file: str | None) -> bool:
    if code.co_filename == "<string>" and code.co_qualname.startswith("__create_fn__."):
        return False  # a method that dataclasses made
    return is_user_code(code.co_filename, main_file)


def _is_library(real: str) -> bool:
    if not _INSTALLED.isdisjoint(real.split(os.sep)):
        return True
    has_torch = "torch" in sys.modules
    if has_torch not in _folders:
        _folders[has_torch] = _library_folders()
    return any(_is_below(real, folder) for folder in _folders[has_torch]) or _is_recorded(real)


def _is_recorded(real: str) -> bool:
    """Whether an installer put it where it lies, in whatever folder: its RECORD lists the file."""
    for entry in sys.path:
        folder = os.path.realpath(full_path(entry))
        if _is_below(real, folder):
            if folder not in _records:
                _records[folder] = _recorded_in(folder)
            if os.path.relpath(real, folder) in _records[folder]:
                return True
    return False


def _recorded_in(folder: str) -> set[str]:
    import contextlib
    import csv

    files: set[str] = set()
    with contextlib.suppress(OSError, csv.Error):  # what cannot be read is nobody's record
        for name in os.listdir(folder):
            record = os.path.join(folder, name, "RECORD")
            if name.endswith(".dist-info") and os.path.isfile(record):
                with open(record, encoding="utf-8", errors="replace", newline="") as lines:
                    files.update(os.path.normpath(line[0]) for line in csv.reader(lines) if line)
    return files


def _is_generated(real: str) -> bool:
    """Code that a library wrote into the temporary folder and loaded from there by hand, under a
    name that no import would find: torch_geometric does so. (A notebook's cells have names in
    that folder too, but no files.)
    """
    import tempfile

    if not _is_below(real, os.path.realpath(tempfile.gettempdir())) or not os.path.exists(real):
        return False
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if (
            isinstance(file, str)
            and name not in ("__main__", "__mp_main__")
            and _real(file) == real
        ):
            return not any(real.startswith(path) for path in _import_paths(name))
    return False


def _import_paths(name: str) -> list[str]:
    """Where `import name` would find its file, without the suffix."""
    parts = name.split(".")
    return [os.path.join(os.path.realpath(entry), *parts) for entry in sys.path]


def _library_folders() -> set[str]:
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [_STANDARD, site.getusersitepackages(), _HERE, *site.getsitepackages()]
    folders += getattr(sys.modules.get("torch"), "__path__", ())
    return {os.path.realpath(folder) for folder in folders}


def _is_import_system(real: str) -> bool:
    runpy, importlib = os.path.join(_STANDARD, "runpy.py"), os.path.join(_STANDARD, "importlib")
    return real == runpy or _is_below(real, importlib)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _real(filename: str) -> str:
    if filename not in _resolved:
        made = filename.startswith("<")
        _resolved[filename] = filename if made else os.path.realpath(full_path(filename))
    return _resolved[filename]


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


START_DIRECTORY = _working_directory()
_known: dict[tuple[str, str | None, bool], bool] = {}
_folders: dict[bool, set[str]] = {}
_records: dict[str, set[str]] = {}  # of a folder on sys.path, the files that packages brought
_resolved: dict[str, str] = {}
