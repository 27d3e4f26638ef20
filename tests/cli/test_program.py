"""A program runs under `nanscope run` as under python: stdout, stderr, status and files, compared.

The programs are the table in program_cases.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from program_cases import CASES, WORLD

import nanscope
from watched import NANSCOPE

PACKAGE = Path(nanscope.__file__).parents[1]
PYTHON = [sys.executable]
WATCHED = [str(NANSCOPE), "run", "-q"]

# A launcher in its smallest form, for what program.py tells its caller.
DRIVER = f"""
import sys
sys.path.insert(0, {str(PACKAGE)!r})
from nanscope.run import program
del sys.path[0]
import json, os

class Stop(BaseException):
    pass
sys.stop_type = Stop  # for programs that play the watcher

remembered = []
how = dict(stop_type=Stop)
remember = dict(remember=lambda code, data: remembered.append([code.co_filename, len(data)]))
first, *rest = sys.argv[1:]
if first == "-m":
    ending = program.run_module(rest[0], rest[1:], **how)
elif first == "-c":
    ending = program.run_code(rest[0], rest[1:], **how, **remember)
else:
    ending = program.run_script(first, rest, **how, **remember)
if report := os.environ.get("DRIVER_REPORT"):
    with open(report, "w") as file:
        json.dump(dict(kind=ending.kind, status=ending.status, started=ending.started,
                       exception=type(ending.exception).__name__, remembered=remembered), file)
program.leave(ending)
"""


@pytest.fixture
def place(tmp_path):
    """A folder with the driver beside, not in, the program's own."""
    (tmp_path / "driver.py").write_text(DRIVER)
    (tmp_path / "work").mkdir()
    return tmp_path


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if (folder / "z").is_dir():
        with zipfile.ZipFile(folder / "z.pyz", "w") as archive:
            for path in sorted((folder / "z").rglob("*.py")):
                member = zipfile.ZipInfo(str(path.relative_to(folder / "z")))  # dated 1980, always
                archive.writestr(member, path.read_bytes())


def run(place, launcher, command, stdin=None, merged=False, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [*launcher, *command],
        cwd=place / "work",
        env={**kept, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        input=(stdin or "").encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merged else subprocess.PIPE,
        timeout=600,
    )
    return done.stdout, done.stderr, done.returncode


def written(folder):
    """Every file, and what is in it."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def run_from(place, files, launcher, command, stdin, environment):
    shutil.rmtree(place / "work")
    (place / "work").mkdir()
    write(place / "work", files)
    return run(place, launcher, command, stdin, **environment), written(place / "work")


def compare(place, files, command, stdin=None, **environment):
    python = run_from(place, files, PYTHON, command, stdin, environment)
    watched = run_from(place, files, WATCHED, command, stdin, environment)
    assert watched == python
    return python[0]


@pytest.mark.parametrize("name", CASES)
def test_runs_as_under_python(place, name):
    compare(place, *CASES[name])


# Imported first of all: nothing under python, a NaN that spoils a weight under nanscope.
PLANT = """
import torch
def train():
    w = torch.tensor([-1.0], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    torch.sqrt(w).sum().backward()
    opt.step()
train()
"""
PLANTED = [
    "world",
    "world_code",
    "world_stdin",
    "world_module",
    "world_package_main",
    "world_folder",
    "world_zipapp",
    "latin1_declared",
    "exception",
    "exception_module",
    "hook_exits",
    "exit_3",
    "exit_'wörd'",
    "os_exit",
    "interrupt",
    "threads_fail",
    "teardown",
    "runpy",
    "stack",
    "files",
    "asyncio",
]


def planted(files, command, stdin=None):
    """The same program, with the import in its first line of code."""

    def plant(text):
        if isinstance(text, str):
            return "import plant\n" + text
        first, rest = text.split(b"\n", 1)  # a declaration of the encoding
        return first + b"\nimport plant\n" + rest

    if command[0] == "-c":
        return files, ["-c", plant(command[1]), *command[2:]], stdin
    if command[0] == "-":
        return files, command, plant(stdin)
    name = command[1].replace(".", "/") if command[0] == "-m" else command[0].removesuffix(".pyz")
    main = next(m for m in (name, f"{name}.py", f"{name}/__main__.py") if m in files)
    return {**files, main: plant(files[main])}, command, stdin


@pytest.mark.slow  # torch twice for each
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_nan_is_reported_and_changes_nothing_else(place, name):
    files, command, stdin = planted(*CASES[name])
    write(place / "plant", {"plant.py": PLANT})
    environment = {"PYTHONPATH": str(place / "plant")}
    seen = [
        run_from(place, files, launcher, command, stdin, environment)
        for launcher in (PYTHON, [*WATCHED[:2], "--keep-going"])
    ]
    ((out, err, _), written), ((watched_out, watched_err, watched_status), watched_written) = seen
    assert watched_out == out
    assert watched_status == 3
    assert watched_err.startswith(err)
    diagnosis = watched_err[len(err) :].decode()
    assert diagnosis.startswith("nanscope: error: "), diagnosis
    assert "torch.sqrt(w)" in diagnosis and "First Bad Operation" in diagnosis
    captures = [name for name in watched_written if name.suffix == ".nsc"]
    assert len(captures) == 1
    assert {n: data for n, data in watched_written.items() if n not in captures} == written


# In our own words, before the program starts: the name of the interpreter means nothing here.
@pytest.mark.parametrize("command", [["no.py", "x"], ["./no/where.py"], ["a.py/b.py"]])
def test_a_missing_script_is_a_sentence(place, command):
    write(place / "work", {"a.py": "print(1)"})
    out, err, status = run(place, WATCHED, command)
    assert (out, status) == (b"", run(place, PYTHON, command)[2])
    assert err.startswith(f"nanscope run: {command[0]} does not exist.".encode())
    assert err.count(b"\n") == 1


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONSAFEPATH": "1"},
        {"PYTHONOPTIMIZE": "2"},
        {"PYTHONWARNINGS": "error"},
        {"PYTHONNODEBUGRANGES": "1"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"},
    ],
    ids=lambda e: next(iter(e)),
)
@pytest.mark.parametrize("command", [["a.py"], ["-m", "a"], ["-c", "import a"], ["d"]])
def test_environment(place, environment, command):
    text = "import sys, warnings\nprint(sys.flags, sys.path[0], 'ä')\nassert 0, 'no'\n"
    text += "warnings.warn('w')\n1 / 0\n"
    compare(place, {"a.py": text, "d/__main__.py": text}, command, **environment)


@pytest.mark.parametrize("command", [["a.py"], ["-m", "a"], ["-c", "print(1); print(2); 1/0"]])
def test_order_of_stdout_and_stderr(place, command):
    write(place / "work", {"a.py": "print(1); print(2); import sys; 1/0"})
    python = run(place, PYTHON, command, merged=True)
    assert run(place, WATCHED, command, merged=True) == python


def test_pyc(place):
    import py_compile

    write(place, {"a.py": "def f(): 1/0\nprint(__file__, type(__loader__))\nf()"})
    py_compile.compile(str(place / "a.py"), str(place / "b.pyc"))
    compare(place, {"b.pyc": (place / "b.pyc").read_bytes()}, ["b.pyc"])


def test_a_working_directory_that_is_gone(place):
    text = "import os, sys\nprint(sys.path[0], __file__)\nprint(os.path.exists('.'))\n"
    write(place, {"a.py": text})
    outs = []
    # Below a folder with a blank in its name pip's launcher is a script of sh, which complains too.
    for launcher in (PYTHON, [*PYTHON, *WATCHED]):
        (place / "gone").mkdir()
        script = 'cd gone && rmdir ../gone && exec "$@"'
        command = ["sh", "-c", script, "sh", *launcher, str(place / "a.py")]
        outs.append(subprocess.run(command, cwd=place, capture_output=True, timeout=120))
    assert outs[0].stdout == outs[1].stdout and outs[0].returncode == outs[1].returncode == 0
    assert outs[0].stderr == outs[1].stderr


def test_symlinked_script(place):
    write(place, {"d/a.py": "import b\n" + WORLD, "d/b.py": ""})
    (place / "link.py").symlink_to("d/a.py")
    compare(place, {}, ["../link.py"])


def test_broken_pipe(place):
    write(place / "work", {"a.py": "print('x' * 100000)"})
    for launcher in (PYTHON, WATCHED):
        read, write_end = os.pipe()
        os.close(read)
        done = subprocess.run(
            [*launcher, "a.py"],
            cwd=place / "work",
            stdout=write_end,
            stderr=subprocess.PIPE,
        )
        os.close(write_end)
        # The exception comes when the text is written, or when what is left of it is flushed.
        assert done.returncode in (1, 120)
        assert b"BrokenPipeError" in done.stderr


def ending_of(place, text, *command):
    write(place / "work", {"a.py": textwrap.dedent(text)})
    report = place / "report.json"
    launcher = [*PYTHON, str(place / "driver.py")]
    out = run(place, launcher, command or ["a.py"], DRIVER_REPORT=str(report))
    return (json.loads(report.read_text()) if report.exists() else None), out


@pytest.mark.parametrize(
    "text, kind, status, exception",
    [
        ("x = 1", "normally", 0, "NoneType"),
        ("import sys; sys.exit(4)", "normally", 4, "NoneType"),
        ("import sys; sys.exit('w')", "normally", 1, "NoneType"),
        ("1/0", "exception", 1, "ZeroDivisionError"),
        ("raise KeyboardInterrupt", "signal", 130, "KeyboardInterrupt"),
        ("import sys; raise sys.stop_type", "stopped", 0, "Stop"),
    ],
)
def test_ending(place, text, kind, status, exception):
    for command in (["a.py"], ["-m", "a"], ["-c", text]):
        ending, _ = ending_of(place, text, *command)
        assert (ending["kind"], ending["status"], ending["exception"]) == (kind, status, exception)
        assert ending["started"]


@pytest.mark.parametrize("command", [["no.py"], ["-m", "no"], ["d"], ["-c", "("], ["wrong.py"]])
def test_not_started(place, command):
    write(place / "work", {"d/x": "", "wrong.py": "("})
    ending, (out, _, status) = ending_of(place, "", *command)
    assert not ending["started"]
    assert (out, status) == (b"", ending["status"])
    assert status


def test_stopped_says_nothing_and_cleans_up(place):
    text = """
        import atexit, sys
        atexit.register(print, "atexit")
        try:
            raise sys.stop_type
        finally:
            print("finally")
    """
    ending, (out, err, status) = ending_of(place, text)
    assert (out, err, status) == (b"finally\natexit\n", b"", 0)
    assert ending["kind"] == "stopped"


def test_main_text_is_remembered(place):
    assert ending_of(place, "x = 1")[0]["remembered"] == [[str(place / "work/a.py"), 5]]
    assert ending_of(place, "", "-c", "x=1")[0]["remembered"] == [["<string>", 3]]


def test_judged_after_threads_and_before_atexit(place):
    text = """
        import atexit, os, threading, time
        report = os.environ["DRIVER_REPORT"]
        threading.Thread(target=lambda: print("thread", os.path.exists(report))).start()
        atexit.register(lambda: print("atexit", os.path.exists(report)))
    """
    assert ending_of(place, text)[1][0] == b"thread False\natexit True\n"


def test_leave_with_another_status(place):
    driver = (place / "driver.py").read_text().replace("leave(ending)", "leave(ending, 3)")
    (place / "driver.py").write_text(driver)
    _, (_, err, status) = ending_of(place, "raise KeyboardInterrupt")
    assert status == 3
    assert err.endswith(b"KeyboardInterrupt\n")


def test_interrupt_ends_by_the_signal(place):
    assert compare(place, {"a.py": "raise KeyboardInterrupt"}, ["a.py"])[2] == -signal.SIGINT
