"""The include rule, on small trees that break it and on the tree as it is."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC = importlib.util.spec_from_file_location(
    "check_includes", ROOT / "scripts" / "check_includes.py"
)
rule = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(rule)


def problems(folder: Path, texts: dict[str, str]) -> list[str]:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return rule.check(folder)


def test_a_room_right_of_its_own_may_not_be_included(tmp_path):
    found = problems(tmp_path, {"src/scan/a.h": '#include "origin/b.h"\n', "src/origin/b.h": ""})
    assert found == ["src/scan/a.h:1: includes origin/b.h: origin/ is right of scan/"]


def test_rooms_of_the_adapter_have_an_order_too(tmp_path):
    found = problems(
        tmp_path,
        {
            "adapters/torch/hit/a.h": '#include "adapters/torch/sentinel/b.h"\n',
            "adapters/torch/sentinel/b.h": '#include "adapters/torch/watch/c.h"\n',
            "adapters/torch/watch/c.h": "",
            "adapters/torch/attic/d.h": "",
        },
    )
    assert sorted(found) == [
        "adapters/torch/attic/d.h: attic is in no line of ADAPTER_ROOMS",
        "adapters/torch/hit/a.h:1: includes adapters/torch/sentinel/b.h: "
        "sentinel/ is right of hit/",
    ]


def test_parts_of_the_page_that_import_each_other(tmp_path):
    found = problems(
        tmp_path,
        {
            "web/src/a.ts": 'import { b } from "./b";\nimport type { C } from "./c";\n',
            "web/src/b.ts": 'import {\n  a,\n} from "./a";\n',
            "web/src/c.ts": 'import { a } from "./a";\n',
        },
    )
    assert found == [
        "import cycle: web/src/a (web/src/a.ts:1) -> web/src/b (web/src/b.ts:1) -> web/src/a"
    ]


def test_a_header_and_its_source_are_one_unit(tmp_path):
    """No header includes another in a circle; the units do."""
    found = problems(
        tmp_path,
        {
            "adapters/torch/hit/facts.h": "",
            "adapters/torch/hit/facts.cc": '#include "adapters/torch/hit/facts.h"\n'
            '#include "adapters/torch/hit/makers.h"\n',
            "adapters/torch/hit/makers.h": '#include "adapters/torch/hit/facts.h"\n',
        },
    )
    assert found == [
        "include cycle: adapters/torch/hit/facts (adapters/torch/hit/facts.cc:2) -> "
        "adapters/torch/hit/makers (adapters/torch/hit/makers.h:1) -> adapters/torch/hit/facts"
    ]


def test_one_cycle_is_reported_once(tmp_path):
    """Three units around, and a fourth that only leads there."""
    found = problems(
        tmp_path,
        {
            "src/scan/a.h": '#include "scan/b.h"\n',
            "src/scan/b.h": '#include "scan/c.h"\n',
            "src/scan/c.h": '#include "scan/a.h"\n',
            "src/scan/z.h": '#include "scan/a.h"\n',
        },
    )
    assert len(found) == 1
    assert found[0].startswith("include cycle: src/scan/a (src/scan/a.h:1) -> src/scan/b")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from nanscope.run import b\n", "import nanscope.run.a\n"),
        ("from nanscope.run.b import x\n", "from .a import y\n"),
        ("from . import b\n", "def f():\n    from nanscope.run.a import y\n"),
    ],
)
def test_modules_that_import_each_other(tmp_path, first, second):
    found = problems(
        tmp_path, {"python/nanscope/run/a.py": first, "python/nanscope/run/b.py": second}
    )
    assert len(found) == 1
    assert found[0].startswith("import cycle: nanscope.run.a (python/nanscope/run/a.py:1) -> ")


def test_what_only_types_need_is_no_import(tmp_path):
    guarded = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from nanscope.run.a import y\n"
    assert not problems(
        tmp_path,
        {
            "python/nanscope/run/a.py": "from nanscope.run import b\n",
            "python/nanscope/run/b.py": guarded,
        },
    )


def test_a_python_room_right_of_its_own_may_not_be_imported(tmp_path):
    found = problems(
        tmp_path,
        {
            "python/nanscope/errors.py": "",
            "python/nanscope/telling/a.py": "from nanscope.errors import x\n"
            "from nanscope.run.b import y\n",
            "python/nanscope/run/b.py": "",
            "python/nanscope/__main__.py": "from nanscope.run import b\n",
            "python/nanscope/cellar/c.py": "",
        },
    )
    assert found == [
        "python/nanscope/telling/a.py:2: imports nanscope.run.b: right of its own room",
        "python/nanscope/cellar/c.py: its room is in no line of PYTHON_ROOMS",
    ]


def test_the_plug_keeps_the_rule():
    assert rule.check_imports(ROOT) == []
