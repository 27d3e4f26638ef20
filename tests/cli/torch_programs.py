"""Programs with torch that must not notice who runs them: what test_run.py runs twice and compares.

`found` is the expression that the diagnosis must name, or None for a program in which all is well.
Where something is found the status is 3 and the program is run with --keep-going, so that it does
all that it does under python.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TRAIN = """
def train(start, steps=2):
    import torch
    w = torch.tensor([start], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    for step in range(steps):
        opt.zero_grad()
        torch.sqrt(w).sum().backward()
        opt.step()
    return w
"""


@dataclass
class Case:
    text: str
    found: str | None = None
    command: list[str] = field(default_factory=lambda: ["program.py"])
    files: dict[str, str] = field(default_factory=dict)
    stdin: str = ""


CASES = {
    "late_import": Case(
        f"""import sys, warnings
{TRAIN}
print(sys.argv, "torch" in sys.modules)
print(sys.stdin.read().upper(), train(4.0).item() < 4)
import torch
warnings.warn("w", stacklevel=2)
print(type(torch.__loader__), torch.__loader__ is torch.__spec__.loader)
print(vars(torch.__loader__).keys())
open("result.txt", "w").write("done")
""",
        command=["program.py", "--epochs", "3"],
        stdin="one\ntwo\n",
    ),
    "exception_in_a_module": Case(
        """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x @ torch.ones(3, 1)
Net()(torch.ones(2, 2))
"""
    ),
    "pickled_main_class": Case(
        f"""import atexit, io, pickle, sys
import torch
{TRAIN}
class Net(torch.nn.Linear): pass
file = io.BytesIO()
torch.save(Net(2, 1), file)
file.seek(0)
print(type(torch.load(file, weights_only=False)) is Net)
print(pickle.loads(pickle.dumps(Net(1, 1)))(torch.zeros(1)).shape)
atexit.register(lambda: print("atexit", sys.argv[0]))
train(-1.0)
sys.exit("in words")
""",
        found="torch.sqrt(w)",
    ),
    "module_in_a_package": Case(
        "",
        found="torch.sqrt(w)",
        command=["-m", "pkg.main", "x"],
        files={
            "pkg/__init__.py": "",
            "pkg/work.py": TRAIN,
            "pkg/main.py": "import sys\nfrom .work import train\nprint(sys.argv[1:])\n"
            "train(-1.0)\n1 / 0\n",
        },
    ),
    "os_exit": Case(
        f"import os\n{TRAIN}\ntrain(-1.0)\nprint('out', flush=True)\nos._exit(7)\n",
        found="torch.sqrt(w)",
    ),
    "interrupted": Case(
        f"""import os, sys
{TRAIN}
train(-1.0)
try:
    os.kill(os.getpid(), 2)
    while True: pass
finally:
    print("finally")
""",
        found="torch.sqrt(w)",
    ),
    "terminated": Case(
        f"import os, time\n{TRAIN}\ntrain(4.0)\nos.kill(os.getpid(), 15)\ntime.sleep(60)\n"
    ),
    "terminated_with_a_bad_loss": Case(
        """import os, time, torch
w = torch.tensor([-1.0], requires_grad=True)
torch.sqrt(w).sum().backward()
print("out", flush=True)
os.kill(os.getpid(), 15)
time.sleep(60)
""",
        found="torch.sqrt(w)",
    ),
    "a_thread_outlives_main": Case(
        f"""import atexit, threading
import torch
{TRAIN}
def work():
    threading.main_thread().join()
    print("worker", train(-1.0).shape)
threading.Thread(target=work).start()
atexit.register(print, "atexit")
print("main ends")
""",
        found="torch.sqrt(w)",
    ),
}
