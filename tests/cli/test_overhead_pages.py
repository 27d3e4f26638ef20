"""docs/overhead.md, its plot and the README's table say what docs/overhead.json says."""

from __future__ import annotations

import json
import sys

from watched import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import plot
import publish

MEASURED = json.loads(publish.JSON.read_text())


def test_the_page_is_made_of_the_json() -> None:
    assert publish.PAGE.read_text() == publish.page(MEASURED)
    assert "{" not in publish.page(MEASURED)


def test_the_plot_is_made_of_the_json() -> None:
    assert publish.PLOT.read_text() == plot.plot(publish.beside_plain(MEASURED))


def test_the_table_of_the_readme_is_made_of_the_json() -> None:
    text = publish.README.read_text()
    assert publish.readme(text, MEASURED) == text
    for name in publish.beside_plain(MEASURED):
        assert name in text
