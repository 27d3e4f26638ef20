"""Nobody pays for the tools of others: an integration is imported when it is asked for, and an
extra of its name brings what it needs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import metadata

from watched import ROOT

FILES = {path.stem for path in (ROOT / "python/nanscope/integrations").glob("*.py")}
OF_OURS_ALONE = {"__init__", "training", "webhook"}
EXTRAS = set(metadata("nanscope").get_all("Provides-Extra"))
ALL_OF_NANSCOPE = """
import nanscope, sys
for name in nanscope.__all__:
    getattr(nanscope, name)
with nanscope.watch():
    pass
print([name for name in sys.modules if name.startswith("nanscope.integrations")])
"""


def test_each_has_an_extra_of_its_name() -> None:
    assert EXTRAS >= FILES - OF_OURS_ALONE
    # Torch is never asked for: pip could fetch another.
    requirements = metadata("nanscope").get_all("Requires-Dist")
    assert not [name for name in requirements if re.match(r"torch\b", name)]


def test_the_pages_name_extras_that_there_are() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    named = {n for page in pages for n in re.findall(r"nanscope\[(\w+)\]", page.read_text())}
    assert named <= EXTRAS
    assert named >= FILES - OF_OURS_ALONE


def test_none_is_imported_unasked() -> None:
    done = subprocess.run([sys.executable, "-c", ALL_OF_NANSCOPE], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
