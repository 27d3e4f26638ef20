"""The six programs of examples/: their diagnosis is the one that docs/examples.md shows."""

from __future__ import annotations

import re
import subprocess

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT

PAGE = (ROOT / "docs" / "examples.md").read_text()
SHOWN = re.findall(r"```text\n\$ nanscope run (examples/\w+\.py)\n(.*?)```", PAGE, re.DOTALL)
CAUSES = {
    "graph_pooling": "division_by_zero",
    "vae": "log_of_zero",
    "policy_ratio": "exp_overflow",
    "unscaled_regression": "learning_rate_divergence",
    "half_rms_norm": "half_overflow",
    "deep_initialisation": "bad_initialisation",
}


def without_numbers(text: str) -> str:
    """Another processor may need a step more or less; lines are then broken elsewhere."""
    return " ".join(re.sub(r"-?\d[\d,.]*(e[+-]\d+)?", "#", text).split())


def test_every_cause_of_the_checklist_has_its_program() -> None:
    assert {path for path, _ in SHOWN} == {f"examples/{name}.py" for name in CAUSES}


@pytest.mark.parametrize("path, shown", SHOWN, ids=[path for path, _ in SHOWN])
def test_the_diagnosis_is_as_printed(path: str, shown: str, tmp_path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        [NANSCOPE, "run", path], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 3
    name = path.removeprefix("examples/").removesuffix(".py")
    assert f"\n  {CAUSES[name]} (" in done.stderr
    # Where torch is installed differs.
    inside = re.compile(r"\n  inside [^\n]*(\n    [^\n]*)?(?=\n  called)")
    printed = without_numbers(inside.sub("", done.stderr))
    for part in shown.split("\n\n"):
        assert without_numbers(part) in printed
