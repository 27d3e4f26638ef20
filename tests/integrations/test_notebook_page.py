"""A cell's output as a reader of the notebook sees it: converted by nbconvert, in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from installed_packages import WITH_PACKAGES
from test_jupyter import executed

from watched import ROOT

PARTS = ("First Bad Operation", "Root Cause", "Input Statistics", "Fix", "Verification")
# As nbconvert's command does; what the template would fetch from elsewhere is nothing of ours.
CONVERT = """
import sys
from nbconvert import HTMLExporter
exporter = HTMLExporter(require_js_url="", mathjax_url="", mermaid_js_url="")
page, _ = exporter.from_filename(sys.argv[1])
open(sys.argv[2], "w").write(page)
"""


def test_the_output_of_a_cell_in_a_browser(tmp_path: Path) -> None:
    notebook = tmp_path / "notebook.ipynb"
    shutil.copy(ROOT / "examples/integrations/notebook.ipynb", notebook)
    executed(notebook)
    page = tmp_path / "notebook.html"
    subprocess.run(
        [sys.executable, "-c", CONVERT, notebook, page],
        cwd=tmp_path,
        env={**WITH_PACKAGES, "JUPYTER_PATH": str(ROOT / ".venv/packages/share/jupyter")},
        check=True,
    )
    plan = {
        "modules": str(ROOT / "build/web-tests"),
        "browser": shutil.which("chromium"),
        "page": str(page),
        "shot": str(tmp_path / "notebook.png"),
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    driver = Path(__file__).parent / "notebook_page.mjs"
    done = subprocess.run(["node", driver, tmp_path / "plan.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["console"], seen["errors"]) == ([], [])
    assert seen["fits"]  # what is wider is scrolled inside of its own box
    # The traceback stands on the lines of the cell.
    assert "NonFiniteError" in seen["text"]
    assert "loss = loss_of(x, y)" in seen["text"] and "loss.backward()" in seen["text"]
    below = seen["text"].partition("nanscope: error: In[2]:3")[2]
    places = [below.find(f"\n{part}\n") for part in PARTS]
    assert -1 not in places and places == sorted(places)
    assert "log_of_zero" in seen["folded"]
