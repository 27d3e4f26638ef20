"""A file of settings that a program reads (YAML, JSON, TOML), as text with places.

It is not parsed: a line, or an entry between braces, that gives a number to a key is all that is
looked for. So comments, order and quotes stay as they are.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from nanscope.fix.patch.source_file import Edit, SourceFile

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
ENTRY = re.compile(
    r"""(?:^|(?<=[{,]))[ \t]*(?P<quote>["']?)(?P<key>\w[\w.-]*)(?P=quote)[ \t]*[:=][ \t]*"""
    r"""(?P<number>[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?)[ \t]*(?=[,}#\r\n]|$)""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class WrittenNumber:
    """The number of an entry, and where it stands."""

    key: str
    begin: int
    end: int
    evaluated_value: float


class SettingsFile(SourceFile):
    is_python = False

    def nodes(self) -> Iterable[cst.CSTNode]:
        return ()

    def numbers(self) -> Iterator[WrittenNumber]:
        for entry in ENTRY.finditer(self.text):
            value = float(entry["number"].replace("_", ""))
            yield WrittenNumber(entry["key"], *entry.span("number"), value)

    def span(self, node: WrittenNumber) -> tuple[int, int]:
        return node.begin, node.end

    whole_span = span

    def edit(self, node: WrittenNumber, text: str) -> Edit:
        """With a point: YAML takes 1e-4 for a word."""
        mantissa, e, power = text.partition("e")
        point = f"{mantissa}.0" if e and "." not in mantissa else mantissa
        return Edit(self.path, node.begin, node.end, f"{point}{e}{power}")


def named_in(sources: Iterable[SourceFile], folder: str, arguments: Iterable[str]) -> list[str]:
    """Files of settings that the sources name, or the command line."""
    found: dict[str, None] = {}
    for argument in arguments:
        name = argument.partition("=")[2] or argument
        found |= dict.fromkeys(_there(name, [folder]))
    for source in sources:
        for node in source.nodes():
            text = node.evaluated_value if isinstance(node, cst.SimpleString) else ""
            if isinstance(text, str):
                found |= dict.fromkeys(_there(text, [folder, os.path.dirname(source.path)]))
    return list(found)


def _there(name: str, folders: list[str]) -> Iterator[str]:
    if not name.endswith(SUFFIXES) or "\n" in name:
        return
    for folder in folders:
        direct = os.path.join(folder, name)
        below = glob.glob(os.path.join(glob.escape(folder), "*", glob.escape(name)))
        for path in [direct] if os.path.isfile(direct) else below:
            yield os.path.realpath(path)
