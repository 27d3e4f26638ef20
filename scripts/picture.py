#!/usr/bin/env python3
r"""Draws what a command prints on a terminal, colours included, as an SVG that needs nothing else.

    scripts/picture.py --title "nanscope run examples/vae.py" \
        --skip "step +(20|40|60|80|100) |  (negatives|subnormals|.?NaN|.Inf) " \
        docs/diagnosis.svg .venv/bin/nanscope run examples/vae.py

makes docs/diagnosis.svg; a test compares its text with what is printed. The command runs in a
pseudo-terminal. Colours come in a light and a dark set; the viewer's own setting chooses.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

COLUMNS, SIZE, ADVANCE, LINE, MARGIN, BAR = 100, 13, 7.83, 18, 20, 34
STYLE = """
.ground { fill: #ffffff; stroke: #d0d7de } .text { fill: #1f2328 } .bar { fill: #f2f4f7 }
.bold { font-weight: 600 } .dim { fill: #7a828c } .red { fill: #c11c27 } .green { fill: #17703a }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117; stroke: #30363d } .text { fill: #e6edf3 } .bar { fill: #1a2029 }
.dim { fill: #848d97 } .red { fill: #ff7b72 } .green { fill: #56d364 }
}"""
CLASSES = {"1": "bold", "2": "dim", "31": "red", "32": "green"}


def printed_by(command: list[str]) -> str:
    """What the command writes to a terminal of COLUMNS columns."""
    chunks: list[bytes] = []

    def keep(descriptor: int) -> bytes:
        chunks.append(os.read(descriptor, 65536))
        return chunks[-1]

    os.environ["COLUMNS"] = str(COLUMNS)
    pty.spawn(command, keep)
    lines = b"".join(chunks).decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines)  # what progress left behind


def shortened(printed: str, skip: str) -> str:
    """Without the lines that match `skip`; three dots stand where some were."""
    lines: list[str] = []
    for line in printed.split("\n"):
        plain = re.sub(r"\x1b\[[\d;]*m", "", line)
        if not re.match(skip, plain):
            lines.append(line)
        elif not lines or lines[-1].strip() != "...":
            lines.append(" " * (len(plain) - len(plain.lstrip())) + "...")
    return "\n".join(lines)


def words(line: str) -> Iterator[tuple[int, str, str]]:
    """Column, classes and text of each piece of one look. A wide gap parts two pieces: SVG would
    draw it as one blank."""
    column, classes = 0, ""
    for i, part in enumerate(re.split(r"\x1b\[([\d;]*)m", line)):
        if i % 2:
            classes = " ".join(CLASSES[code] for code in part.split(";") if code in CLASSES)
            continue
        for found in re.finditer(r"\S+( \S+)*", part):
            yield column + found.start(), classes, found.group()
        column += len(part)


def drawn(line: str, y: int) -> str:
    """One line of the terminal. Each piece stands in its column, whatever the font's width."""
    spans = [
        f'<tspan x="{MARGIN + column * ADVANCE:.1f}" textLength="{len(text) * ADVANCE:.1f}"'
        + (f' class="{look}">' if look else ">")
        + f"{escape(text, quote=False)}</tspan>"
        for column, look, text in words(line)
    ]
    return f'<text y="{y}">{"".join(spans)}</text>' if spans else ""


def picture(command: str, printed: str) -> str:
    """The terminal's window: a bar with the command, and the lines below it."""
    lines = printed.rstrip("\n").split("\n")
    width = round(2 * MARGIN + COLUMNS * ADVANCE)
    height = BAR + MARGIN + len(lines) * LINE + 4
    body = [drawn(line, BAR + MARGIN + 6 + i * LINE) for i, line in enumerate(lines)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">',
            f"<title>What {escape(command)} prints</title>",
            f"<style>{STYLE}\n</style>",
            '<rect class="ground" x="0.5" y="0.5" rx="8" '
            f'width="{width - 1}" height="{height - 1}"/>',
            f'<path class="bar" d="M1 {BAR}V9a8 8 0 0 1 8-8h{width - 18}a8 8 0 0 1 8 8V{BAR}z"/>',
            '<g class="text" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, '
            f'\'DejaVu Sans Mono\', monospace" font-size="{SIZE}">',
            drawn(f"\x1b[2m$\x1b[0m \x1b[1m{command}", 22),
            *[line for line in body if line],
            "</g>",
            "</svg>",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skip", default="(?!)", help="lines to leave out, a regular expression")
    parser.add_argument("--title", required=True, help="the command as the picture shows it")
    parser.add_argument("target", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    printed = shortened(printed_by(chosen.command), chosen.skip)
    chosen.target.write_text(picture(chosen.title, printed) + "\n")


if __name__ == "__main__":
    main()
