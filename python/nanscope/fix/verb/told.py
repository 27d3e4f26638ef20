"""A patch as the report and the JSON tell it."""

from __future__ import annotations

import re

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.verb.diff import unified
from nanscope.telling.stack import display_path


def fix_of(
    originals: dict[str, SourceFile], files: dict[str, SourceFile], chosen: list[Candidate]
) -> dict:
    """`files` are those of the originals with the chosen patches in them."""
    changed = {p: s for p, s in files.items() if s.text != originals[p].text}
    names = {path: display_path(path) for path in changed}
    diff = "".join(unified(names[p], originals[p].text, s.text) for p, s in changed.items())
    return {
        "id": "+".join(dict.fromkeys(c.id for c in chosen)),
        "diff": diff,
        "files": list(names.values()),
        "explanation": " ".join(dict.fromkeys(_sentence(c.explanation) for c in chosen)),
        "changes_training": any(c.changes_training for c in chosen),
        "workaround": any(c.workaround for c in chosen),
        "applied": False,
    }


def _sentence(text: str) -> str:
    """With a capital, unless it begins with code."""
    return text if re.match(r"\w+\(", text) else text[:1].upper() + text[1:]
