#!/usr/bin/env python3
"""Adds the schemas of the installed torch to adapters/torch/ops/known_schemas.inc.

The file says for which schemas the rules were written. Run this only after the tests of the rules
(births, proofs, op_db) have passed with that torch: what it writes is believed. With --check it
writes nothing and lists what is missing.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "adapters/torch/ops/known_schemas.inc"


def hash_of(schema: str) -> int:
    """FNV-1a, as in known_schemas.cc."""
    value = 0xCBF29CE484222325
    for byte in schema.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def known() -> set[tuple[str, int]]:
    entries = re.findall(r'\{"([^"]+)", (0x[0-9a-f]+)\}', TABLE.read_text())
    return {(op, int(number, 16)) for op, number in entries}


def main() -> int:
    import torch

    from nanscope import _torch

    here = {(op, hash_of(schema)) for op, schema in _torch.ops_with_rules()}
    missing = sorted(here - known())
    for op, _ in missing:
        print(f"{op}: another schema in torch {torch.__version__}")
    if "--check" in sys.argv[1:]:
        return 1 if missing else 0
    lines = [f'{{"{op}", 0x{number:016x}}},\n' for op, number in sorted(known() | here)]
    TABLE.write_text("".join(lines))
    print(f"{len(lines)} schemas in {TABLE.name}, {len(missing)} new")
    return 0


if __name__ == "__main__":
    sys.exit(main())
