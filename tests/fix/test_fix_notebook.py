"""`nanscope fix` on a notebook: cells are patched, all else stays."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from nanscope.fix.verb.notebook import BadNotebook, Notebook
from watched import ENVIRONMENT, NANSCOPE, ROOT

EXAMPLE = ROOT / "examples/integrations/notebook.ipynb"
ODD = [
    "%load_ext nanscope\nimport torch\n%matplotlib inline",
    "%%bash\necho 'no Python'\n",
    "if True:\n    !ls\nfiles = !ls\n%time x = 1\ntorch.log?",
    "%%nanscope --keep-going\nfor _ in range(2):\n    %nanscope --layer a.b y = 2",
    "",
    "text = '''\n%no magic, but nobody knows\n'''",
]


def notebook(cells: list[str], as_lines: bool = False, **how: object) -> bytes:
    made = [
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": cell.splitlines(keepends=True) if as_lines else cell,
        }
        for cell in cells
    ]
    made.insert(1, {"cell_type": "markdown", "metadata": {}, "source": "# x\n%%nanscope"})
    content = {"cells": made, "metadata": {"ä": 1}, "nbformat": 4, "nbformat_minor": 4}
    return (json.dumps(content, **how) + "\n").encode()


@pytest.mark.parametrize("as_lines", [False, True])
@pytest.mark.parametrize("how", [{"indent": 1, "ensure_ascii": False}, {"indent": 4}, {}])
def test_magics_become_python_and_come_back(as_lines: bool, how: dict) -> None:
    data = notebook(ODD, as_lines, **how)
    book = Notebook("odd.ipynb", data)
    compile(book.script, "odd.ipynb", "exec")
    assert "x = 1  # %time x = 1" in book.script
    assert "    y = 2  # %nanscope --layer a.b y = 2" in book.script
    assert book.changed(book.script) == {}
    assert book.patched(book.script) == data


def test_a_patch_goes_into_its_cell() -> None:
    book = Notebook("odd.ipynb", notebook(ODD, True, indent=1, ensure_ascii=False))
    script = book.script.replace("x = 1  #", "x = 2  #")  # a magic that is patched stays Python
    script = "import math\n" + script.replace("text = '''", "z = 3\ntext = '''")
    content = json.loads(book.patched(script))
    sources = ["".join(cell["source"]) for cell in content["cells"]]
    assert sources[0] == "import math\n" + ODD[0]
    assert sources[1] == "# x\n%%nanscope"
    assert "x = 2  # %time x = 1" in sources[3]
    assert sources[6].startswith("z = 3\ntext = '''")
    assert [s for i, s in enumerate(sources) if i in (2, 4, 5)] == [ODD[1], ODD[3], ODD[4]]
    diff = book.diff(script, "odd.ipynb")
    assert "--- a/odd.ipynb (cell 1)" in diff and "+import math" in diff
    assert "--- a/odd.ipynb (cell 7)" in diff


def test_what_is_no_notebook_is_refused(tmp_path: Path) -> None:
    for data in (b"{}", b"[1]", b"pass", b'{"cells": [1]}', notebook([])):
        with pytest.raises(BadNotebook, match="is no notebook of format 4|has no code"):
            Notebook("bad.ipynb", data)
    (tmp_path / "bad.ipynb").write_bytes(b"pass\n")
    line = [NANSCOPE, "fix", "bad.ipynb"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.endswith("bad.ipynb is no notebook of format 4.\n")


@pytest.mark.slow
def test_the_example_is_patched_in_its_cell(tmp_path: Path) -> None:
    copy = tmp_path / "notebook.ipynb"
    copy.write_bytes(EXAMPLE.read_bytes())
    line = [NANSCOPE, "fix", "--apply", "--yes", "--verify", "5", "--json", "fix.json", copy.name]
    done = subprocess.run(line, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    finding = json.loads((tmp_path / "fix.json").read_text())["findings"][0]
    assert finding["verification"]["status"] == "verified"
    assert "--- a/notebook.ipynb (cell 3)" in finding["fix"]["diff"]
    assert "is line 3 of cell 3." in done.stderr
    before, after = (json.loads(path.read_bytes())["cells"] for path in (EXAMPLE, copy))
    assert [i for i, cell in enumerate(after) if cell != before[i]] == [2]
    patched = "".join(after[2]["source"])
    assert patched.startswith("def loss_of(x, y):") and "clamp" in patched
