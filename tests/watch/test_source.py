"""From a frame to the user's expression: columns, texts that changed, and whose code it is."""

import importlib
import linecache
import os
import py_compile
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import torch

from nanscope.telling import source, stack
from nanscope.telling.source import SourceKeeper, locate, split_stack


class Probe:
    """Stands for a tensor: every op on it notes where it was called."""

    def __init__(self):
        self.sites = []

    def _note(self, *_, **__):
        frame = sys._getframe(1)
        self.sites.append(locate(frame.f_code, frame.f_lasti, SourceKeeper()))
        return self

    log = sum = __call__ = __truediv__ = __itruediv__ = __add__ = __radd__ = __neg__ = _note
    __getitem__ = __setitem__ = __matmul__ = __pow__ = __gt__ = __lt__ = __enter__ = _note
    __exit__ = __invert__ = __rsub__ = _note

    def __format__(self, _):
        return ""

    def __iter__(self):
        frame = sys._getframe(1)
        self.sites.append(locate(frame.f_code, frame.f_lasti, SourceKeeper()))
        return iter([1])


def run(tmp_path, text, name="prog.py", **names):
    """The sites noted by a file with this text, run with `p` as the probe."""
    path = tmp_path / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    probe = Probe()
    space = {"p": probe, "torch": probe, "n": 2, **names}
    exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), space)
    return probe.sites


# The text, and the expression found in it. The last op of the text is the one asked for.
EXPRESSIONS = [
    ("y = torch.log(p)", "torch.log(p)"),
    ("y = 1 + p.log() if n else 3", "1 + p.log()"),
    ("y = p.log()", "p.log()"),
    ("y = p / n", "p / n"),
    ("y = (p) / (n)", "(p) / (n)"),
    ("y = 1 - p", "1 - p"),
    ("y = -p", "-p"),
    ("y = ~p", "~p"),
    ("y = p @ p ** 2", "p @ p ** 2"),
    ("y = p[1:, None]", "p[1:, None]"),
    ("p[0] = 3", "p[0]"),
    ("p /= n", "p /= n"),
    ("q = [p]; q[0] /= n", "q[0] /= n"),
    ("y = [q.log() for q in [p]]", "q.log()"),
    ("y = {k: p.log() for k in 'a'}", "p.log()"),
    ("y = (lambda q: q / 2)(p)", "q / 2"),
    ("y = f'{p / n} and'", "p / n"),
    ("y = f'''\n  {p.log(n)}'''", "p.log(n)"),
    ("if p > 0 and n: pass", "p > 0"),
    ("if not p.log():\n    pass", "p.log()"),
    ("while p > 0: break", "p > 0"),
    ("for x in p:\n    y = 1\n    z = 2\nelse:\n    w = 3", "p"),
    ("if n:\n    for x in p:\n        y = 1\n    else:\n        w = 3", "p"),
    ("a, = p", "a,"),
    ("with p:\n    y = 1\n    z = 2", "p"),
    ("@p.log(n)\ndef f(): pass", "p.log(n)"),
    ("def f(a=p.log(n)): pass", "p.log(n)"),
    ("class C:\n    y = p.log(n)", "p.log(n)"),
    ("y = torch.log(\n    p,\n    out=n)", "torch.log(\n    p,\n    out=n)"),
    ("y = (p\n     + n)", "p\n     + n"),
    ("if n:\n\ty = torch.log(\tp )", "torch.log(\tp )"),
    ("ä = 'äöü€😀'; y = p.log('ß' + ä)", "p.log('ß' + ä)"),
    ("y = p.log(); ä = 1", "p.log()"),
    ("größe = p / n  # Größe", "p / n"),
    ("x = '\x0c'; y = p / n", "p / n"),
    ("y = p \\\n  / n", "p \\\n  / n"),
    ("y = p.log(*[1], **{'a': 2})", "p.log(*[1], **{'a': 2})"),
    ("y = (z := p.log())", "p.log()"),
    ("def f():\n    yield p.log()\nlist(f())", "p.log()"),
    ("def f():\n    return p / n\nf()", "p / n"),
    ("assert p.log(), 'no'", "p.log()"),
]


@pytest.mark.parametrize("text, code", EXPRESSIONS)
def test_expression(tmp_path, text, code):
    site = run(tmp_path, text)[-1]
    assert (site.code, site.remark) == (code, "")
    lines = text.split("\n")
    assert site.source == lines[site.line - 1 : site.end_line]
    assert site.code.split("\n")[0] in lines[site.line - 1]
    assert lines[site.line - 1][site.col :].startswith(code.split("\n")[0])
    assert lines[site.end_line - 1][: site.end_col].endswith(code.split("\n")[-1])


class Asked(Probe):
    """A tensor of which the program wants to know whether it is true."""

    def __bool__(self):
        self.__call__()
        frame = sys._getframe(1)
        self.sites[-1] = locate(frame.f_code, frame.f_lasti, SourceKeeper())
        return True


QUESTIONS = [
    ("if p:\n    y = 1\nelif n:\n    y = 2", "p"),
    ("if n:\n    if p:\n        y = 1\n    else:\n        y = 2", "p"),
    ("if not n:\n  y = 1\nelif p:\n  y = 2\nelse:\n  y = 3", "p"),
    ("def f():\n\tif not n:\n\t\ty = 1\n\telif  p :\n\t\ty = 2\nf()", "p"),
    ("while p:\n    break", "p"),
    ("assert p, 'no'", "p"),
    ("y = 1 if p else 2", "1 if p else 2"),
    ("y = not p", "not p"),
    ("y = p and n", "p and n"),
]


@pytest.mark.parametrize("text, code", QUESTIONS)
def test_question(tmp_path, text, code):
    asked = Asked()
    site = run(tmp_path, text, p=asked) or asked.sites[-1]
    assert (site.code, site.remark) == (code, "")
    assert text.split("\n")[site.line - 1][site.col : site.end_col] == code


# A method's call that begins on a line of its own; the object it was called on.
RECEIVERS = [
    ("y = (p\n  .log())", "log()", "p\n  .log()"),
    ("y = (p.\n  log())", "log()", "p.\n  log()"),
    ("y = p. \\\n  log()", "log()", "p. \\\n  log()"),
    ("y = (torch.sum(p, [n])\n  .log(1))", "log(1)", "torch.sum(p, [n])\n  .log(1)"),
    ("y = ((p + p)\n  .log())", "log()", "(p + p)\n  .log()"),
    ("def f(): return (p + p) \\\n  .log()\nf()", "log()", "(p + p) \\\n  .log()"),
    ("y = p[n](\n  p + p\n).log()", "log()", "p[n](\n  p + p\n).log()"),
    ("y = (n, p + p[n]\n  .log())", "log()", "p[n]\n  .log()"),
    ("y = (p\n  .sum()\n  .log(\n  ))", "log(\n  )", "p\n  .sum()\n  .log(\n  )"),
]


@pytest.mark.parametrize("text, code, whole", RECEIVERS)
def test_receiver_on_another_line(tmp_path, text, code, whole):
    site = next(s for s in run(tmp_path, text) if s.code.startswith("log"))
    assert (site.code, site.expression) == (code, whole)


def test_fields(tmp_path):
    text = """\
        class Net:
            def forward(self, x):
                def inner(): return x / n
                inner()
        Net().forward(p)
    """
    site = run(tmp_path, text)[0]
    assert (site.line, site.end_line, site.col, site.end_col) == (3, 3, 28, 33)
    assert site.function == "Net.forward.inner"
    assert site.file == str(tmp_path / "prog.py")


def test_long_call_is_shown_in_part(tmp_path):
    site = run(tmp_path, "y = p.log(" + "\n1," * 30 + "\n)")[0]
    assert (site.line, site.end_line) == (1, 32)
    assert len(site.source) == source.MOST_LINES


def test_text_of_exec_is_missing():
    probe = Probe()
    exec("x = 1\ny = p.log()", {"p": probe})
    site = probe.sites[0]
    assert (site.file, site.line, site.code, site.source) == ("<string>", 2, "", [])
    assert site.remark == source.NO_TEXT.format("<string>")


@pytest.mark.parametrize("name", ["<ipython-input-3-abc>", "<doctest 1>", "/tmp/ipykernel_1/2.py"])
def test_text_in_linecache(name):
    text, probe = "x = 1\ny = p.log()\n", Probe()
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), {"p": probe})
    assert (probe.sites[0].code, probe.sites[0].remark) == ("p.log()", "")
    assert source.is_user_code(name)


def test_text_in_zip(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("zipped/__init__.py", "")
        archive.writestr("zipped/inner.py", "def f(p):\n    return 1 - p.log()\n")
    monkeypatch.syspath_prepend(str(tmp_path / "app.zip"))
    probe = Probe()
    importlib.import_module("zipped.inner").f(probe)
    site = probe.sites[0]
    assert (site.code, site.line, site.remark) == ("p.log()", 2, "")
    assert site.file.endswith("app.zip/zipped/inner.py")


def test_only_compiled(tmp_path, monkeypatch):
    (tmp_path / "lonely.py").write_text("def f(p):\n    return p.log()\n")
    py_compile.compile(str(tmp_path / "lonely.py"), str(tmp_path / "lonely.pyc"))
    (tmp_path / "lonely.py").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    probe = Probe()
    importlib.import_module("lonely").f(probe)
    assert (probe.sites[0].line, probe.sites[0].code) == (2, "")
    assert "not available" in probe.sites[0].remark


def test_no_columns(tmp_path):
    (tmp_path / "prog.py").write_text("def f(p):\n\n    y = p.log()  # here\n")
    paths = [str(tmp_path), str(Path(source.__file__).parents[2])]
    text = (
        f"import sys; sys.path[:0] = {paths}\n"
        "import prog\nfrom nanscope.telling.source import locate\n"
        "class P:\n  def log(self):\n    f = sys._getframe(1); s = locate(f.f_code, f.f_lasti)\n"
        "    print([s.line, s.col, s.end_col, s.code, s.source, s.remark])\n"
        "prog.f(P())"
    )
    environment = {**os.environ, "PYTHONNODEBUGRANGES": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    out = subprocess.check_output([sys.executable, "-c", text], env=environment, text=True)
    line = "    y = p.log()  # here"
    assert eval(out) == [3, 4, len(line), line.strip(), [line], source.NO_COLUMNS]


class TestChangedFile:
    BEFORE = "x = 1\n\ndef f(p):\n    y = 2\n    return p.log(y)\n"

    @pytest.fixture
    def module(self, tmp_path, monkeypatch):
        path = tmp_path / "edited.py"
        path.write_text(self.BEFORE)
        monkeypatch.syspath_prepend(str(tmp_path))
        sys.modules.pop("edited", None)
        importlib.invalidate_caches()
        yield importlib.import_module("edited")
        sys.modules.pop("edited", None)

    def site(self, module, keeper=None):
        code = module.f.__code__
        offset = next(2 * i for i, p in enumerate(code.co_positions()) if p[0] == 5 and p[3] == 19)
        return locate(code, offset, keeper or SourceKeeper())

    def rewrite(self, module, old, new):
        Path(module.__file__).write_text(self.BEFORE.replace(old, new))

    def test_unchanged(self, module):
        assert (self.site(module).code, self.site(module).remark) == ("p.log(y)", "")

    @pytest.mark.parametrize(
        "old, new",
        [("x = 1\n", "x = 1\nz = 2\n"), ("p.log(y)", "p.log(x)"), ("y = 2", "y = p"), ("def", "(")],
    )
    def test_changed(self, module, old, new):
        self.rewrite(module, old, new)
        site = self.site(module)
        assert (site.line, site.code, site.source) == (5, "", [])
        assert site.remark == source.CHANGED.format(site.file)

    @pytest.mark.parametrize("old, new", [("x = 1", "x = 77"), ("y = 2", "y = 2  # two")])
    def test_changed_elsewhere(self, module, old, new):
        self.rewrite(module, old, new)
        assert (self.site(module).code, self.site(module).remark) == ("p.log(y)", "")

    def test_changed_and_given_its_old_times(self, module):
        times = os.stat(module.__file__).st_atime_ns, os.stat(module.__file__).st_mtime_ns
        self.rewrite(module, "p.log(y)", "p.abs(x)")
        os.utime(module.__file__, ns=times)
        assert self.site(module).code == ""

    def test_old_file_is_not_compiled(self, module, monkeypatch):
        monkeypatch.setattr(source, "_PROCESS_START_NS", time.time_ns() + 10**12)
        monkeypatch.setattr(source, "_compiles_to", None)
        assert self.site(module).code == "p.log(y)"

    def test_main_program(self, tmp_path):
        path, text = tmp_path / "main.py", b"# coding: latin-1\r\ny = '\xe4'; p.log()\r\n"
        path.write_bytes(text)
        code = compile(text, str(path), "exec")
        keeper = SourceKeeper()
        keeper.remember(code, text)
        path.write_text("something else")
        offset = next(2 * i for i, p in enumerate(code.co_positions()) if p[3] == 17)
        site = locate(code, offset, keeper)
        assert (site.code, site.source) == ("p.log()", ["y = 'ä'; p.log()"])
        assert site.remark == source.KEPT.format(site.file)


def test_text_of_code_option():
    text, keeper, sites = "def f(p):\n    return p.log()\n", SourceKeeper(), []
    code = compile(text, "<string>", "exec")
    keeper.remember(code, text.encode())
    space = {}
    exec(code, space)

    class P:
        def log(self):
            frame = sys._getframe(1)
            sites.append(locate(frame.f_code, frame.f_lasti, keeper))

    space["f"](P())
    exec("p.log()", {"p": P()})
    assert [s.code for s in sites] == ["p.log()", ""]


def test_columns_that_do_not_fit(tmp_path, monkeypatch):
    """Code made out of another text under the name of a file that is there."""
    monkeypatch.setattr(source, "_PROCESS_START_NS", time.time_ns() + 10**12)
    path = tmp_path / "template.py"
    path.write_text("  x = {{ first }} + {{ second }}\n")
    probe = Probe()
    exec(compile("x = 1; y = (p, p.log())[1]", str(path), "exec"), {"p": probe})
    site = probe.sites[0]
    assert (site.code, site.col) == ("x = {{ first }} + {{ second }}", 2)
    assert site.remark == source.NO_FIT.format(path)


def frame(filename, name="f"):
    return compile("pass", filename, "exec").replace(co_qualname=name, co_name=name), 0


def library(*parts):
    version = f"python3.{sys.version_info[1]}"
    return str(Path(sys.prefix).joinpath("lib", version, "site-packages", *parts))


STANDARD = os.path.dirname(os.__file__)
OWN = os.path.dirname(os.path.dirname(stack.__file__))


@pytest.mark.parametrize(
    "filename, expected",
    [
        ("/home/me/train.py", True),
        ("/home/me/torch/train.py", True),
        ("train.py", True),
        ("<string>", True),
        ("<stdin>", True),
        ("<ipython-input-1-f>", True),
        ("<my template>", True),
        ("<frozen runpy>", False),
        ("<eval_with_key>.3", False),
        ("<__array_function__ internals>", False),
        (library("torch", "nn", "functional.py"), False),
        (library("mine.py"), False),
        ("/opt/other/lib/python3.9/dist-packages/x.py", False),
        (os.path.join(STANDARD, "random.py"), False),
        (os.path.join(STANDARD, "json", "decoder.py"), False),
        (os.path.join(OWN, "source.py"), False),
    ],
)
def test_is_user_code(filename, expected):
    assert source.is_user_code(filename, "/home/me/train.py") is expected


def test_main_is_always_the_users():
    path = library("pkg", "__main__.py")
    assert source.is_user_code(path, path)
    assert not source.is_user_code(library("pkg", "other.py"), path)


def test_symbolic_links(tmp_path):
    real = tmp_path / "lib/site-packages/pkg"
    real.mkdir(parents=True)
    (real / "a.py").touch()
    (tmp_path / "link").symlink_to(real)
    assert not source.is_user_code(str(tmp_path / "link/a.py"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/b.py").touch()
    (tmp_path / "lib/site-packages/editable").symlink_to(tmp_path / "mine")
    assert source.is_user_code(str(tmp_path / "lib/site-packages/editable/b.py"))


def test_loaded_torch_is_no_user_code(tmp_path, monkeypatch):
    fake = type(sys)("torch")
    fake.__path__ = [str(tmp_path / "src/torch")]
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(stack, "_known", {})
    monkeypatch.setattr(stack, "_folders", {})
    assert not source.is_user_code(str(tmp_path / "src/torch/nn/x.py"))
    assert source.is_user_code(str(tmp_path / "src/other.py"))


def test_what_a_record_lists_is_a_librarys(tmp_path, monkeypatch):
    """As `pip install --target` leaves it: beside a file of the user's own."""
    info = tmp_path / "somewhere/pack-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "RECORD").write_text("pack/a.py,sha256=x,1\n'odd, name'/b.py,,\n")
    monkeypatch.syspath_prepend(str(tmp_path / "somewhere"))
    monkeypatch.setattr(stack, "_known", {})
    assert not source.is_user_code(str(tmp_path / "somewhere/pack/a.py"))
    assert source.is_user_code(str(tmp_path / "somewhere/pack/mine.py"))
    assert source.is_user_code(str(tmp_path / "somewhere/train.py"))
    assert not source.is_user_code(str(tmp_path / "somewhere/pack/a.py"), "train.py")
    assert source.is_user_code(
        str(tmp_path / "somewhere/pack/a.py"), str(tmp_path / "somewhere/pack/a.py")
    )


USER, OTHER = frame("/home/me/train.py"), frame("/home/me/model.py")
TORCH, THREAD = frame(torch.__file__), frame(os.path.join(STANDARD, "threading.py"))
PACKAGE = frame(library("mypackage", "scale.py"))
OURS = frame(os.path.join(OWN, "api", "check.py"))
LAUNCH = frame(os.path.join(OWN, "run", "program.py"))
FROZEN, RUNPY = frame("<frozen importlib._bootstrap>"), frame(os.path.join(STANDARD, "runpy.py"))
MADE = frame("<string>", "__create_fn__.<locals>.__eq__")
COMMAND = frame("/usr/bin/nanscope")


@pytest.mark.parametrize(
    "frames, expected",
    [
        ([USER], (0, None)),
        ([OTHER, USER], (0, None)),
        ([TORCH, TORCH, OTHER, TORCH, USER], (2, 0)),
        ([OURS, TORCH, USER], (2, 1)),
        ([TORCH, PACKAGE, USER], (2, 1)),
        ([TORCH, PACKAGE, TORCH, PACKAGE, OTHER, PACKAGE, USER], (4, 1)),
        ([THREAD, PACKAGE, USER], (2, 1)),
        ([MADE, TORCH, USER], (2, 0)),
        ([OURS, USER, RUNPY, FROZEN, LAUNCH, COMMAND], (1, None)),
        ([TORCH, THREAD, FROZEN], (1, 0)),
        ([TORCH, LAUNCH, COMMAND], (0, None)),
        ([MADE, USER], (1, 0)),
        ([FROZEN, OURS], (None, None)),
        ([], (None, None)),
    ],
)
def test_split_stack(frames, expected):
    assert split_stack(frames, "/home/me/train.py") == expected


def test_display_path(tmp_path, monkeypatch):
    here = tmp_path / "work"
    here.mkdir()
    (tmp_path / "link").symlink_to(here)
    monkeypatch.setattr(stack, "START_DIRECTORY", str(here))
    assert source.display_path(str(here / "a/train.py")) == "a/train.py"
    assert source.display_path(str(here) + "/./train.py") == "train.py"
    assert source.display_path("a/train.py") == "a/train.py"
    assert source.display_path(str(tmp_path / "link/b.py")) == "b.py"
    assert source.display_path(str(tmp_path / "workshop/b.py")) == str(tmp_path / "workshop/b.py")
    assert source.display_path("<string>") == "<string>"
    monkeypatch.setattr(stack, "START_DIRECTORY", None)
    assert source.display_path("/x/b.py") == "/x/b.py"


def test_code_a_library_generated_is_the_librarys(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path / "project"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "helpers.py").write_text("")
    (tmp_path / "some.lib_generated_x7.py").write_text("")
    for name, file in {
        "some.lib_generated": "some.lib_generated_x7.py",
        "helpers": "project/helpers.py",
    }.items():
        module = ModuleType(name)
        module.__file__ = str(tmp_path / file)
        monkeypatch.setitem(sys.modules, name, module)
    assert not source.is_user_code(str(tmp_path / "some.lib_generated_x7.py"))
    assert source.is_user_code(str(tmp_path / "project" / "helpers.py"))
    assert source.is_user_code(str(tmp_path / "ipykernel_1" / "2.py"))


def test_a_function_that_was_compiled_is_no_site():
    compiler = os.path.join(os.path.dirname(torch.__file__), "_dynamo", "eval_frame.py")
    names = ["<eval_with_key>.1", compiler, "/home/me/train.py", compiler, "/home/me/main.py"]
    frames = [(compile("", name, "exec"), 0) for name in names]
    assert split_stack(frames) == (4, 0)
    assert split_stack(frames[2:]) == (0, None)
