"""Tables for a terminal and for a notebook, from the same cells."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "  "
STYLE = "text-align:{}; padding:2px 8px; white-space:nowrap"


def as_text(head: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[int]) -> str:
    """Columns in `left` begin at the left, numbers end at the right; no blanks at a line's end."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return GAP.join(cells).rstrip()

    return "\n".join(line(row) for row in (head, *rows))


def as_html(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: frozenset[int],
    colors: Sequence[str],
) -> str:
    """`colors`: of each row's text, or "" for the notebook's own."""
    from html import escape

    def cell(tag: str, i: int, text: str) -> str:
        side = STYLE.format("left" if i in left else "right")
        return f'<{tag} style="{side}">{escape(text)}</{tag}>'

    lines = ["<table>", "<thead><tr>"]
    lines += [cell("th", i, text) for i, text in enumerate(head)]
    lines.append("</tr></thead><tbody>")
    for row, color in zip(rows, colors, strict=True):
        lines.append(f'<tr style="color:{color}">' if color else "<tr>")
        lines += [cell("td", i, text) for i, text in enumerate(row)]
        lines.append("</tr>")
    lines.append("</tbody></table>")
    return "".join(lines)
