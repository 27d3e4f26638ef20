"""docs/capture-format.md names each key that a capture has, and no other."""

import re

from watched import ROOT

PAGE = (ROOT / "docs/capture-format.md").read_text()
KEYS = set(re.findall(r'visit\("(\w+)"', (ROOT / "src/capture/fields.h").read_text()))


def test_each_key_is_named() -> None:
    assert KEYS - set(re.findall(r"`(\w+)`", PAGE)) == set()


def test_each_name_is_a_key() -> None:
    payload = PAGE[PAGE.index("## The payload") : PAGE.index("## Bounds")]
    rows = re.findall(r"^\| [\w, ]+ \| (.*) \|$", payload, re.M)
    named = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    assert len(named) > 100
    assert named - KEYS == set()
