"""What the rules that leave out a scan believe of the installed torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from watched import ENVIRONMENT

ROOT = Path(__file__).resolve().parent.parent.parent

LIST_OPS = """
import json, torch
from nanscope import _torch
has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
every = torch._C._dispatch_get_all_op_names()
names = [name for name in every if name.startswith("aten::_foreach_")]
own = {name for name in names if has_kernel(name, "CPU")}
loops = {name for name in names if has_kernel(name, "CompositeExplicitAutograd")}
_torch.install()
wrapped = {name for name in names if has_kernel(name, "CPU")}
print(json.dumps([len(names), sorted(set(names) - own - loops), sorted(own - wrapped)]))
"""


def test_every_rule_was_written_for_the_schema_of_this_torch() -> None:
    command = [sys.executable, ROOT / "scripts/known_schemas.py", "--check"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_list_ops_are_loops_over_watched_ops_or_are_watched_themselves() -> None:
    command = [sys.executable, "-c", LIST_OPS]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, neither, unwatched = json.loads(done.stdout)
    assert count > 100 and neither == [] and unwatched == []
