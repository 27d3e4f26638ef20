"""The overhead of each mode as bars, an SVG that needs nothing else."""

from __future__ import annotations

import math

MODES = {
    "nanscope": ("nanscope", "#1a7f5a"),
    "module_hooks": ("module hooks", "#9aa5b1"),
    "detect_anomaly": ("detect_anomaly", "#d9a441"),
    "dispatch_mode": ("Python dispatch mode", "#b5473c"),
}
LEFT, WIDTH, BAR, GAP, TOP = 260, 460, 10, 16, 50
LARGEST = 12.0


def along(ratio: float) -> float:
    """Where a ratio lies, from 0 at 1x on a logarithmic scale."""
    return WIDTH * math.log(max(1.0, min(ratio, LARGEST))) / math.log(LARGEST)


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'


def plot(steps: dict) -> str:
    group = BAR * len(MODES) + GAP
    height = TOP + group * len(steps) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 70}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, (words, color) in enumerate(MODES.values()):
        parts.append(f'<rect x="{20 + 180 * i}" y="12" width="10" height="10" fill="{color}"/>')
        parts.append(text(35 + 180 * i, 21, words))
    for mark in (1, 1.1, 1.5, 2, 3, 5, 10):
        x = LEFT + along(mark)
        parts.append(
            f'<line x1="{x:.0f}" y1="{TOP - 10}" x2="{x:.0f}" y2="{height - 24}" stroke="#ddd"/>'
        )
        parts.append(text(x, height - 10, f"{mark}x", "middle"))
    for i, (name, step) in enumerate(steps.items()):
        y = TOP + i * group
        parts.append(text(LEFT - 8, y + group / 2 - 2, name, "end"))
        for k, (mode, (_, color)) in enumerate(MODES.items()):
            if mode not in step:
                continue
            bar = y + k * BAR
            parts.append(
                f'<rect x="{LEFT}" y="{bar}" width="{max(1, along(step[mode])):.1f}" '
                f'height="{BAR - 2}" fill="{color}"/>'
            )
            end = LEFT + along(step[mode]) + 4
            parts.append(text(end, bar + BAR - 2, f"{step[mode]:.2f}"))
    return "\n".join([*parts, "</svg>"]) + "\n"
