"""Settings of the compiler that a finding names: text in, text out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from proposing import case_of, patched

from nanscope.findings import OnlyCompiled
from nanscope.fix.patch import instrument, propose

CASTS = OnlyCompiled("cpp_fused_0", [], "bfloat16", "emulate_precision_casts", "True")
FLAG = OnlyCompiled("cpp_fused_0", [], None, "cpp.enable_unsafe_math_opt_flag", "False")
PROGRAM = "import torch\n{}@torch.compile\ndef f(x):\n    return «x.sinh()»\n"


def first(folder: Path, head: str, known: OnlyCompiled) -> str:
    case = case_of(folder, PROGRAM.format(head), "compiled_only")
    case.finding = replace(case.finding, only_compiled=known)
    best = propose.candidates(case)[0]
    text = patched(case, best)
    # A measuring call would change what is fused: the patch is run as it is.
    assert [source.text for source in instrument.measuring(case, best).values()] == [text]
    return text


def test_a_setting_that_nobody_has_set(tmp_path: Path) -> None:
    text = first(tmp_path, "", CASTS)
    assert text == PROGRAM.replace("«", "").replace("»", "").format(
        "import torch._inductor.config\ntorch._inductor.config.emulate_precision_casts = True\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "torch._inductor.config.cpp.enable_unsafe_math_opt_flag = True\n",
            "torch._inductor.config.cpp.enable_unsafe_math_opt_flag = False\n",
        ),
        (
            'OPTIONS = {"cpp.enable_unsafe_math_opt_flag": True}\n',
            'OPTIONS = {"cpp.enable_unsafe_math_opt_flag": False}\n',
        ),
    ],
)
def test_a_setting_of_the_program(tmp_path: Path, before: str, after: str) -> None:
    text = first(tmp_path, before, FLAG)
    assert text == PROGRAM.replace("«", "").replace("»", "").format(after)


def test_nothing_without_a_setting(tmp_path: Path) -> None:
    case = case_of(tmp_path, PROGRAM.format(""), "compiled_only")
    case.finding = replace(case.finding, only_compiled=replace(CASTS, setting=None))
    assert all(c.id != "compile_as_eager" for c in propose.candidates(case))
