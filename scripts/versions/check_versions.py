#!/usr/bin/env python3
"""`make check-versions`: our tables of ops against the ops that each version of torch has.

Op lists, traits, families and rules name ops. A name that no supported torch has is a mistake and
fails the check; one that some lack is listed: there the line of the table is idle. The ops of a
version are read from its headers (header sets are fetched as `make wheels` does); no torch is
imported.

    TORCHES="2.13 2.15" make check-versions
"""

from __future__ import annotations

import fnmatch
import importlib.util
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from releases import ROOT, headers, minors_wanted

NAME = re.compile(r'constexpr const char\* name = "aten::(\w+)"')
STRINGS = r'((?:"[^"]*"\s*)+)'


def ops_of(torch: Path) -> set[str]:
    """The names of the ops of this torch, without their overloads."""
    found: set[str] = set()
    for header in (torch / "include" / "ATen" / "ops").glob("*_ops.h"):
        found.update(NAME.findall(header.read_text()))
    return found


def words(path: str, before: str) -> set[str]:
    """Names in strings that follow `before` in a table of C++."""
    text = (ROOT / path).read_text()
    found = re.findall(rf"\{{{before},\s*{STRINGS}\}}", text)
    return {word for strings in found for word in " ".join(re.findall(r'"(.*?)"', strings)).split()}


def first_words(path: str) -> set[str]:
    """Names that begin a line of a table of C++: `{"log", ...`."""
    return set(re.findall(r'^\s*\{"([\w*]+)",', (ROOT / path).read_text(), re.M))


def kernels_of_composites() -> set[str]:
    path = ROOT / "adapters/torch/ops/composites.py"
    spec = importlib.util.spec_from_file_location("composites", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {kernel for _, kernels in module.COMPOSITES.values() for kernel in kernels}


def tables() -> dict[str, set[str]]:
    rooms = "adapters/torch/ops/"
    return {
        "op_table.cc": first_words(rooms + "op_table.cc"),
        "ceiling_rule.cc": first_words(rooms + "ceiling_rule.cc"),
        "sign_rule.cc": first_words(rooms + "sign_rule.cc"),
        "op_traits.cc": words("src/origin/op_traits.cc", r"&OpTraits::\w+"),
        "op_families.cc": words("src/origin/op_families.cc", r"OpFamily::\w+"),
        "composites.py": kernels_of_composites(),
    }


def is_there(name: str, ops: set[str]) -> bool:
    """A pattern, an op, its in-place form, or an op of torch.special or torch.linalg."""
    if "*" in name:
        return bool(fnmatch.filter(ops, name))
    forms = (name, name + "_", "special_" + name, "linalg_" + name)
    return any(form in ops for form in forms)


def main() -> int:
    minors = minors_wanted()
    versions = {minor: ops_of(headers(minor)) for minor in minors}
    named = tables()
    empty = [table for table, names in named.items() if not names]
    print(f"{sum(map(len, named.values())):,} names in {len(named)} tables")
    for minor, ops in versions.items():
        missing = sorted(
            f"{name} ({table})"
            for table, names in named.items()
            for name in names
            if not is_there(name, ops)
        )
        print(f"torch {minor}: {len(ops):,} ops; not there: {', '.join(missing) or 'none'}")
    nowhere = sorted(
        f"{name} ({table})"
        for table, names in named.items()
        for name in names
        if not any(is_there(name, ops) for ops in versions.values())
    )
    for table in empty:
        print(f"{table}: no name was read from it; has its form changed?")
    for name in nowhere:
        print(f"{name}: no torch that was looked at has it")
    return 1 if nowhere or empty else 0


if __name__ == "__main__":
    sys.exit(main())
