"""Other Pythons that the program starts: they are watched through their environment.

A folder in front of PYTHONPATH makes such a Python begin anew as `nanscope.run.followed`, before it
runs anything of the program. One that cannot (`-I`, `-S`, `-E`, an interpreter without nanscope)
runs unwatched; it never says that it joined, and so is counted.
"""

from __future__ import annotations

import json
import os
import re
import sys

from nanscope.compiled.processes import is_compiler_at_work
from nanscope.run.imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.run.settings import Settings

VARIABLE = "NANSCOPE_FOLLOW"
NO_PATH = "NANSCOPE_NO_PYTHONPATH"
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "follow")
LAUNCHERS = ("python", "torchrun", "accelerate", "deepspeed")
WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
CODE_OR_MODULE = re.compile(r"-([bBdOPqsuvx]*)([cm])(.*)", re.DOTALL)


class Following:
    """What this process starts."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.started: list[str] = []  # a name for each, by which it says that it joined

    def begin(self) -> None:
        when_imported("subprocess", self._wrap)
        spawn = os.posix_spawn

        def posix_spawn(path, argv, env, *more, **options):
            if is_python([path, *argv]):
                env = self._added(dict(env))
            return spawn(path, argv, env, *more, **options)

        os.posix_spawn = posix_spawn

    def _wrap(self, subprocess: ModuleType) -> None:
        fork_exec = subprocess._fork_exec

        def fork_exec_watched(args, executables, close_fds, keep, cwd, env, *more):
            if is_python([*executables[:1], *args]) and not is_compiler_at_work():
                env = self._list_of(env)
            return fork_exec(args, executables, close_fds, keep, cwd, env, *more)

        subprocess._fork_exec = fork_exec_watched

    def _list_of(self, env: list[bytes] | None) -> list[bytes]:
        pairs = os.environb.items() if env is None else (one.split(b"=", 1) for one in env)
        given = {os.fsdecode(key): os.fsdecode(value) for key, value in pairs}
        return [os.fsencode(f"{key}={value}") for key, value in self._added(given).items()]

    def _added(self, env: dict) -> dict:
        name = f"{os.getpid()}.{len(self.started)}"
        self.started.append(name)
        path = env.get("PYTHONPATH")
        if path is None:
            env[NO_PATH] = "1"
        env["PYTHONPATH"] = FOLDER if path is None else FOLDER + os.pathsep + path
        env[VARIABLE] = json.dumps({**self.settings.for_child(), "followed": name})
        return env


def is_python(command: list) -> bool:
    """Whether it is, or starts, a Python that does not watch itself already."""
    words = [os.fsdecode(word) for word in command if isinstance(word, str | bytes | os.PathLike)]
    text = " ".join(words).split()
    names = [os.path.basename(word) for word in text if not word.startswith("-")]
    if any(name == "nanscope" or name.startswith("nanscope.") for name in names):
        return False
    if any(os.sep + "_inductor" + os.sep in word for word in text):
        return False  # compiles, and computes nothing
    return any(name.startswith(LAUNCHERS) for name in names) or (
        bool(sys.executable) and sys.executable in text
    )


def begin_anew() -> None:
    """In such a Python: the same program, under the watch. Returns where there is none to run."""
    split = split_command(sys.orig_argv)
    if split is None or not sys.executable:
        os.environ.pop(VARIABLE, None)
        return
    options, program = split
    command = [sys.orig_argv[0], *options, "-m", "nanscope.run.followed", *program]
    os.execv(sys.executable, command)


def split_command(argv: list[str]) -> tuple[list[str], list[str]] | None:
    """The options of the interpreter, and the program: `-m name ...`, `-c text ...` or a file.

    None without a program: the interpreter reads from a terminal, or only says its version.
    """
    options: list[str] = []
    rest = list(argv[1:])
    while rest:
        word = rest[0]
        if word in WITH_VALUE:
            options += rest[:2]
            rest = rest[2:]
            continue
        if word == "-" or not word.startswith("-"):
            return options, rest
        found = None if word.startswith("--") else CODE_OR_MODULE.fullmatch(word)
        if found:
            flags, kind, attached = found.groups()
            if flags:
                options.append("-" + flags)
            return options, [f"-{kind}", *([attached] if attached else []), *rest[1:]]
        options.append(rest.pop(0))
    return None
