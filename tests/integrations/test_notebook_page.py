"""A cell's output as a reader of the notebook sees it, in Chromium: as JupyterLab and the classic
notebook show it (nbconvert has their templates), and under the policy of VS Code's notebooks.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import WITH_PACKAGES
from test_jupyter import executed, reports

from watched import ROOT

PARTS = ("First Bad Operation", "Root Cause", "Input Statistics", "Fix", "Verification")
# As nbconvert's command does; the scripts of its templates fetch from elsewhere, and are nothing of
# ours.
CONVERT = """
import re, sys
from nbconvert import HTMLExporter
page, _ = HTMLExporter(template_name=sys.argv[3]).from_filename(sys.argv[1])
open(sys.argv[2], "w").write(re.sub("(?s)<script.*?</script>", "", page))
"""
# Of VS Code's backLayerWebView.ts, without the address of its own files.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src https: http: data:; font-src https:; connect-src https:; child-src https: data:;"
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict]]:
    """The notebook with its outputs, and those of its last cell."""
    notebook = tmp_path_factory.mktemp("page") / "notebook.ipynb"
    shutil.copy(ROOT / "examples/integrations/notebook.ipynb", notebook)
    return notebook, executed(notebook)[-1]


def opened(page: Path) -> dict:
    plan = {
        "modules": str(ROOT / "build/web-tests"),
        "browser": shutil.which("chromium"),
        "page": str(page),
        "shot": str(page.with_suffix(".png")),
    }
    page.with_suffix(".json").write_text(json.dumps(plan))
    driver = Path(__file__).parent / "notebook_page.mjs"
    line = ["node", driver, page.with_suffix(".json")]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_report(seen: dict) -> None:
    assert (seen["console"], seen["errors"]) == ([], [])
    assert seen["fits"]  # what is wider is scrolled inside of its own box
    below = seen["text"].partition("nanscope: error: In[2]:3")[2]
    places = [below.find(f"\n{part}\n") for part in PARTS]
    assert -1 not in places and places == sorted(places)
    assert "log_of_zero" in seen["folded"]


@pytest.mark.parametrize("template", ["lab", "classic"])
def test_in_jupyter(ran: tuple[Path, list[dict]], template: str, tmp_path: Path) -> None:
    page = tmp_path / "notebook.html"
    subprocess.run(
        [sys.executable, "-c", CONVERT, ran[0], page, template],
        cwd=tmp_path,
        env={**WITH_PACKAGES, "JUPYTER_PATH": str(ROOT / ".venv/packages/share/jupyter")},
        check=True,
    )
    seen = opened(page)
    check_report(seen)
    # The traceback stands on the lines of the cell.
    assert "NonFiniteError" in seen["text"]
    assert "loss = loss_of(x, y)" in seen["text"] and "loss.backward()" in seen["text"]


def test_in_vscode(ran: tuple[Path, list[dict]], tmp_path: Path) -> None:
    (report,) = reports(ran[1])
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    page = tmp_path / "output.html"
    page.write_text(f"<!doctype html><html><head>{head}</head><body>{report['text/html']}</body>")
    check_report(opened(page))
