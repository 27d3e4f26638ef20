"""Programs that must not notice who runs them: what test_program.py runs twice and compares.

Adding a case is adding a line: the files, the command line as given to python and, where it
reads one, stdin.
"""

WORLD = """
import sys, __main__
print(__name__, __doc__, __package__, __spec__ and (__spec__.name, __spec__.origin))
print(sys.argv, repr(sys.path[0]), len(sys.path))
print(list(globals()))
print(globals().get("__file__"), globals().get("__cached__"), type(__loader__), __builtins__)
print(__main__ is sys.modules["__main__"], vars(__main__) is globals(), __annotations__)
print(getattr(__loader__, "name", None), getattr(__loader__, "path", None))
"""

PACKAGE_FILES = {
    "pkg/__init__.py": "import sys\nprint('package', sys.argv)\n",
    "pkg/other.py": "word = 'relative'\n",
    "pkg/run.py": "from .other import word\nfrom . import other\nprint(word)\n" + WORLD,
    "pkg/fails.py": "def f():\n    raise KeyError('x')\nf()\n",
    "pkg/wrong.py": "def f(:\n",
    "pkg/__main__.py": "print('main of', __package__)\n" + WORLD,
}

SPAWN = """
import multiprocessing as mp
class Box:
    def __init__(self, value): self.value = value
def work(box, queue): queue.put(Box(box.value + 1))
if __name__ == "__main__":
    for method in METHODS:
        context = mp.get_context(method)
        queue = context.Queue()
        child = context.Process(target=work, args=(Box(1), queue))
        child.start()
        print(method, queue.get().value)
        child.join()
        print(child.exitcode)
"""

THREADS = """
import atexit, sys, threading
def work():
    threading.main_thread().join()
    print("worker", "__file__" in globals())
    threading.Thread(target=lambda: print("grandchild")).start()
atexit.register(lambda: print("atexit", "__file__" in globals(), threading.active_count()))
threading.Thread(target=work).start()
"""

# Ctrl-C once the main thread waits for the others to end.
INTERRUPT_JOINING = """
import atexit, linecache, os, sys, threading
end = threading.Event()
atexit.register(end.set)
def work():
    line = ""
    while line != "lock.acquire()":
        frame = sys._current_frames()[threading.main_thread().ident]
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno or 0).strip()
    os.kill(os.getpid(), 2)
    end.wait()
threading.Thread(target=work).start()
"""

HOOK = "import sys\ndef hook(*e):\n    print('hook', e[0].__name__, sys.exc_info())\n    %s\n"


def raising(what):
    return f"def f(x):\n    y = 1\n    {what}\ndef g():\n    f(\n      2)\nprint('before')\ng()\n"


# name -> (files, command line[, stdin])
CASES = {
    "nothing": ({"a.py": ""}, ["a.py"]),
    "world": ({"a.py": "'''Words.'''\n" + WORLD}, ["a.py", "-x", "--", "b c"]),
    "world_dotted": ({"a.py": WORLD}, ["./a.py"]),
    "world_below": ({"d/a.py": "import b\n" + WORLD, "d/b.py": ""}, ["d/../d/a.py"]),
    "world_code": ({}, ["-c", WORLD, "x", "-c"]),
    "world_stdin": ({}, ["-", "x"], WORLD),
    "world_module": ({"a.py": WORLD}, ["-m", "a", "x"]),
    "world_package_module": (PACKAGE_FILES, ["-m", "pkg.run", "1"]),
    "world_package_main": (PACKAGE_FILES, ["-m", "pkg"]),
    "world_folder": ({"d/__main__.py": "import b\n" + WORLD, "d/b.py": ""}, ["d", "x"]),
    "world_folder_slash": ({"d/__main__.py": WORLD}, ["./d/"]),
    "world_zipapp": ({"z/__main__.py": "import b\n" + WORLD, "z/b.py": ""}, ["z.pyz", "x"]),
    "zipapp_fails": ({"z/__main__.py": "import b", "z/b.py": "def f():\n  1/0\nf()"}, ["z.pyz"]),
    "folder_without_main": ({"d/b.py": ""}, ["d"]),
    "missing_module": ({}, ["-m", "no.where"]),
    "missing_module_py": ({"a.py": ""}, ["-m", "a.py"]),
    "package_without_main": ({"p/__init__.py": ""}, ["-m", "p"]),
    "syntax": ({"a.py": "x = 1\nif x:\n    y = (1,\n"}, ["a.py"]),
    "syntax_caret": ({"a.py": "print('ä', 1 2)\n"}, ["a.py"]),
    "syntax_indent": ({"a.py": "if 1:\n    x = 1\n  y = 2\n"}, ["a.py"]),
    "syntax_tabs": ({"a.py": "if 1:\n        x = 1\n\ty = 2\n"}, ["a.py"]),
    "syntax_late": ({"a.py": "print(1)\nreturn 3\n"}, ["a.py"]),
    "syntax_code": ({}, ["-c", "x = ("]),
    "syntax_module": (PACKAGE_FILES, ["-m", "pkg.wrong"]),
    "syntax_imported": ({"a.py": "import b", "b.py": "x ="}, ["a.py"]),
    "syntax_warning": ({"a.py": "x = 1\nprint(x is 1)\n"}, ["a.py"]),
    "latin1_undeclared": ({"a.py": b"# line\n# \xe9\nprint(1)\n"}, ["a.py"]),
    "latin1_declared": ({"a.py": b"# coding: latin-1\nprint(ascii('\xe9'))\n"}, ["a.py"]),
    "latin1_second_line": ({"a.py": b"#!x\n# vim: fileencoding=latin-1\nx='\xe9'\n"}, ["a.py"]),
    "utf8_wrong": ({"a.py": b"# coding: utf-8\nprint('\xe9')\n"}, ["a.py"]),
    "unknown_encoding": ({"a.py": b"# coding: klingon\nprint(1)\n"}, ["a.py"]),
    "byte_order_mark": ({"a.py": b"\xef\xbb\xbfprint('\xc3\xa4')\n1/0"}, ["a.py"]),
    "bom_and_latin1": ({"a.py": b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n"}, ["a.py"]),
    "null_byte": ({"a.py": b"x = 1\ny = \0 2\n"}, ["a.py"]),
    "null_byte_between": ({"a.py": b"x = 1\0 2\nprint(5)\n"}, ["a.py"]),
    "null_byte_in_comment": ({"a.py": b"print(1)\n#a\0b\nprint(5)\n"}, ["a.py"]),
    "crlf": ({"a.py": b"if 1:\r\n    print('''a\r\nb''')\r\n    1/0\r\n"}, ["a.py"]),
    "exception": ({"a.py": raising("return x / (y - 1)")}, ["a.py"]),
    "exception_code": ({}, ["-c", raising("raise ValueError('a\\nb')")]),
    "exception_stdin": ({}, ["-"], raising("raise ValueError")),
    "exception_module": (PACKAGE_FILES, ["-m", "pkg.fails"]),
    "exception_chained": (
        {
            "a.py": raising(
                "\n    try: 1/0\n    except ZeroDivisionError as e: raise OSError(1) from e"
            )
        },
        ["a.py"],
    ),
    "exception_context": ({"a.py": "try:\n  1/0\nexcept Exception:\n  {}['k']\n"}, ["a.py"]),
    "exception_group": ({"a.py": "raise ExceptionGroup('g', [OSError(1), KeyError(2)])"}, ["a.py"]),
    "exception_not_ascii": ({"a.py": "def ƒ(): raise ValueError('äöü\\ud800')\nƒ()"}, ["a.py"]),
    "exception_note": ({"a.py": "e = ValueError()\ne.add_note('see')\nraise e"}, ["a.py"]),
    "exception_base": ({"a.py": "class E(BaseException): pass\nraise E('x')"}, ["a.py"]),
    "exception_importing": ({"a.py": "import b", "b.py": "import c", "c.py": "1/0"}, ["a.py"]),
    "import_missing": ({"a.py": "def f():\n    import no_such_module\nf()"}, ["a.py"]),
    "generator_exit": ({"a.py": "raise GeneratorExit"}, ["a.py"]),
    "hook": ({"a.py": HOOK % "" + "1/0"}, ["a.py"]),
    "hook_fails": ({"a.py": HOOK % "e.no" + "1/0"}, ["a.py"]),
    "hook_exits": ({"a.py": HOOK % "sys.exit(7)" + "1/0"}, ["a.py"]),
    "hook_not_for_exit": ({"a.py": HOOK % "" + "sys.exit(4)"}, ["a.py"]),
    "hook_missing": ({"a.py": "import sys\ndel sys.excepthook\n1/0"}, ["a.py"]),
    "hook_none": ({"a.py": "import sys\nsys.excepthook = None\n1/0"}, ["a.py"]),
    "last_value": (
        {"a.py": "import atexit, sys\natexit.register(lambda: print(sys.last_value))\n1/0"},
        ["a.py"],
    ),
    **{
        f"exit_{value}": ({"a.py": f"import sys\nprint(1)\nsys.exit({value})"}, ["a.py"])
        for value in (
            "",
            "None",
            "0",
            "3",
            "256",
            "-1",
            "2**40",
            "2**70",
            "True",
            "2.5",
            "'wörd'",
            "(1, 2)",
            "b'x'",
            "''",
        )
    },
    "exit_words_to_none": ({}, ["-c", "import sys; sys.stderr = None; sys.exit('w')"]),
    "exit_unprintable": ({}, ["-c", "class C:\n  def __str__(s): 1/0\nraise SystemExit(C())"]),
    "exception_to_none": ({}, ["-c", "import sys; sys.stderr = None; 1/0"]),
    "exit_raised": ({"a.py": "class E(SystemExit): pass\nraise E(5)"}, ["a.py"]),
    "exit_module": ({"a.py": "import sys; sys.exit('stopped')"}, ["-m", "a"]),
    "exit_code": ({}, ["-c", "raise SystemExit(9)"]),
    "exit_in_atexit": ({"a.py": "import atexit, sys\natexit.register(sys.exit, 3)"}, ["a.py"]),
    "os_exit": ({"a.py": "import os\nprint(1, flush=True)\nos._exit(6)"}, ["a.py"]),
    "abort": ({"a.py": "import os\nos.abort()"}, ["a.py"]),
    "interrupt": (
        {"a.py": "import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt"},
        ["a.py"],
    ),
    "interrupt_signal": (
        {"a.py": "import os\nos.kill(os.getpid(), 2)\nfor i in range(9): pass"},
        ["a.py"],
    ),
    "interrupt_module": ({"a.py": "raise KeyboardInterrupt('x')"}, ["-m", "a"]),
    "interrupt_code": ({}, ["-c", "raise KeyboardInterrupt"]),
    "interrupt_subclass": ({"a.py": "class K(KeyboardInterrupt): pass\nraise K"}, ["a.py"]),
    "interrupt_caught": (
        {
            "a.py": "import os\ntry:\n    os.kill(os.getpid(), 2)\n    while 1: pass\n"
            "except KeyboardInterrupt: print('caught')"
        },
        ["a.py"],
    ),
    "interrupt_joining": ({"a.py": INTERRUPT_JOINING}, ["a.py"]),
    "terminated": ({"a.py": "import os\nos.kill(os.getpid(), 15)\nprint(1)"}, ["a.py"]),
    "threads": ({"a.py": THREADS}, ["a.py"]),
    "threads_exit": ({"a.py": THREADS + "sys.exit(3)"}, ["a.py"]),
    "threads_fail": ({"a.py": THREADS + "1/0"}, ["a.py"]),
    "threads_module": ({"a.py": THREADS}, ["-m", "a"]),
    "thread_fails": (
        {"a.py": "import threading as t\nt.Thread(target=lambda: 1/0, name='n').start()"},
        ["a.py"],
    ),
    "executor_left_open": (
        {
            "a.py": "from concurrent.futures import ThreadPoolExecutor as P\n"
            "p = P(2)\np.submit(print, 'done')"
        },
        ["a.py"],
    ),
    "teardown": (
        {
            "a.py": "class D:\n    def __init__(s, n): s.n = n\n"
            "    def __del__(s): print('del', s.n)\n"
            "x = D('global')\ndef f():\n    y = D('local')\n    import sys\n    sys.exit(2)\n"
            "import atexit\natexit.register(print, 'atexit')\nf()\n"
        },
        ["a.py"],
    ),
    "pickle": (
        {
            "a.py": "import pickle\nclass C: pass\nprint(pickle.dumps(C()), type(pickle.loads("
            "pickle.dumps(C()))) is C)"
        },
        ["a.py"],
    ),
    "spawn_and_fork": ({"a.py": f"METHODS = 'spawn', 'fork', 'forkserver'\n{SPAWN}"}, ["a.py"]),
    "spawn_module": (
        {"p/__init__.py": "", "p/m.py": f"METHODS = ['spawn']\n{SPAWN}"},
        ["-m", "p.m"],
    ),
    "fork_falls_through": (
        {
            "a.py": "import os\nif pid := os.fork():\n    print(os.waitpid(pid, 0)[1])\n"
            "else:\n    print('child')\n"
        },
        ["a.py"],
    ),
    "stdin": ({"a.py": "import sys\nprint(sys.stdin.read(), input)"}, ["a.py"], "one\ntwo\n"),
    "bytes_out": ({"a.py": "import sys\nsys.stdout.buffer.write(bytes(range(256)))"}, ["a.py"]),
    "warnings": (
        {
            "a.py": "import warnings\ndef f(): warnings.warn('w', stacklevel=2)\nf()\n"
            "warnings.warn('d', DeprecationWarning)"
        },
        ["a.py"],
    ),
    "future": ({"a.py": "def f(x: no_such_name): pass"}, ["a.py"]),
    "runpy": (
        {
            "a.py": "import runpy\nprint(runpy.run_path('b.py', run_name='r')['x'])\n"
            "runpy.run_module('c', run_name='__main__', alter_sys=True)",
            "b.py": "x = __name__, __file__",
            "c.py": "import sys\nprint(__name__, sys.argv)\n1/0",
        },
        ["a.py"],
    ),
    "inspect": (
        {
            "a.py": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))\n"
            "print(inspect.getsourcefile(f), inspect.getmodule(f))"
        },
        ["a.py"],
    ),
    "closed_streams": (
        {"a.py": "import sys\nprint(1)\nsys.stdout.close()\nsys.stderr = None\n"},
        ["a.py"],
    ),
    "doctest": (
        {"a.py": "'''\n>>> 1 + 1\n3\n'''\nimport doctest\nprint(doctest.testmod())"},
        ["a.py"],
    ),
    "stack": ({"a.py": "import traceback\ntraceback.print_stack()\ndef f(): 1/0\nf()"}, ["a.py"]),
    "stack_module": ({"a.py": "import traceback\ntraceback.print_stack()\n1/0"}, ["-m", "a"]),
    "stack_while_importing": (
        {
            "a.py": "import b",
            "b.py": "import traceback, warnings\ntraceback.print_stack()\n"
            "warnings.warn('w', stacklevel=3)",
        },
        ["a.py"],
    ),
    "stack_in_a_child": (
        {
            "a.py": "import multiprocessing as mp, traceback\n"
            "def f():\n    traceback.print_stack()\n    1/0\n"
            "if __name__ == '__main__':\n"
            "    for method in 'fork', 'spawn':\n"
            "        p = mp.get_context(method).Process(target=f)\n"
            "        p.start(); p.join(); print(p.exitcode)\n"
        },
        ["a.py"],
    ),
    "stacklevel": ({"a.py": "import warnings\nwarnings.warn('w', stacklevel=4)"}, ["a.py"]),
    "frame": ({"a.py": "import sys\nprint(sys._getframe().f_back)\nsys.exit('x')"}, ["a.py"]),
    "files": (
        {
            "a.py": "import os, tempfile\nos.mkdir('d'); os.chdir('d')\nprint(os.getcwd()[-1])\n"
            "with open('x', 'w') as f: print(f.fileno(), file=f)\n"
        },
        ["a.py"],
    ),
    "pool": (
        {
            "a.py": "import multiprocessing as mp\ndef f(x): return 10 // x\n"
            "if __name__ == '__main__':\n    with mp.Pool(2) as p:\n"
            "        print(p.map(f, [1, 2, 5]))\n        p.map(f, [0])\n"
        },
        ["a.py"],
    ),
    "executor": (
        {
            "a.py": "from concurrent.futures import ProcessPoolExecutor as P\n"
            "def f(x): return 10 // x\n"
            "if __name__ == '__main__':\n    with P(1) as p:\n"
            "        print(p.submit(f, 2).result())\n"
        },
        ["a.py"],
    ),
    "child_exits": (
        {
            "a.py": "import multiprocessing as mp, os, sys\n"
            "def f(n): sys.exit(n) if n != 4 else os._exit(4)\n"
            "if __name__ == '__main__':\n    for n in 0, 3, 4, 'words':\n"
            "        p = mp.Process(target=f, args=(n,)); p.start(); p.join(); print(p.exitcode)\n"
        },
        ["a.py"],
    ),
    "child_terminated": (
        {
            "a.py": "import multiprocessing as mp, time\n"
            "if __name__ == '__main__':\n    p = mp.Process(target=time.sleep, args=(60,))\n"
            "    p.start(); p.terminate(); p.join(); print(p.exitcode)\n"
        },
        ["a.py"],
    ),
    "subprocess": (
        {
            "a.py": "import subprocess, sys\n"
            "print(subprocess.run([sys.executable, '-c', 'print(1); 1/0'], text=True,"
            " capture_output=True))\nprint(subprocess.getoutput('echo $0'))\n"
        },
        ["a.py"],
    ),
    "replaced": (
        {"a.py": "import os, sys\nos.execv(sys.executable, ['python', '-c', 'print(2)'])"},
        ["a.py"],
    ),
    "signal_handlers": (
        {
            "a.py": "import signal as s\nprint(s.getsignal(s.SIGTERM), s.getsignal(s.SIGHUP))\n"
            "s.signal(s.SIGTERM, lambda n, f: print('mine', n))\ns.raise_signal(s.SIGTERM)\n"
        },
        ["a.py"],
    ),
    "fork_and_threads": (
        {
            "a.py": "import os, threading\n"
            "t = threading.Thread(target=lambda: print('t')); t.start(); t.join()\n"
            "pid = os.fork()\nif not pid:\n    print('c', flush=True); os._exit(5)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        },
        ["a.py"],
    ),
    "asyncio": (
        {
            "a.py": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    1/0\n"
            "asyncio.run(f())"
        },
        ["a.py"],
    ),
    "recursion": (
        {"a.py": "def f(): f()\ntry: f()\nexcept RecursionError as e: print(e)"},
        ["a.py"],
    ),
    "pdb": ({"a.py": "x = 7\nbreakpoint()\nprint(x)"}, ["a.py"], "p x\nw\nc\n"),
}
