"""Captures for the tests of the page: golden ones, one of a clean run, hostile ones."""

from __future__ import annotations

import json
import math
import random
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from nanscope import _core
from watched import ROOT

sys.path.append(str(ROOT / "tests/cli"))
import forged

GOLDEN = ROOT / "tests/golden"
# Each phase, half precision, data, learning rate, masks, uninitialised memory, notes and warnings.
CHOSEN = {
    "forward": "fixes/vae",
    "backward": "captures/clamp_before_acos_backward",
    "optimizer": "captures/adam_without_eps_untouched_embedding",
    "data": "captures/empty_buffer_rows_never_written",
    "declared": "captures/missing_values_in_training_table",
    "half": "captures/fp16_mean_count_overflows",
    "half_layers": "captures/residual_addition_overflows_fp16",
    "learning_rate": "captures/linear_regression_diverges",
    "masks": "fixes/gpt_causal_masks",
    "long_way": "captures/beam_search_everything_banned",
    "layers": "fixes/lstm_padding",
    "gan": "fixes/gan",
}
# Of one run: rank 1 of 3 makes it, the others receive it (tests/golden/record_ranks.py).
RANKS = [GOLDEN / f"ranks/{rank}.nsc" for rank in range(3)]
# Run for the test: what older captures do not hold.
PROGRAMS = {
    "pictures": ("attention_in_half.py", []),
    "sentinel": ("sentinel_loss.py", ["--mode", "sentinel"]),
    "many_modules": ("many_modules.py", []),
    "amp": ("loss_scaled.py", []),
    "branches": ("branches.py", []),
    "image": ("one_black_image.py", []),
}
HEADER = 16
FRAME = struct.Struct("<IIII")


def golden(name: str) -> Path:
    return GOLDEN / f"{CHOSEN[name]}.nsc"


def clean_run() -> bytes:
    return _core.Capture.unwatched(
        argv=["train.py"],
        python="3.11.2",
        torch="2.13.0",
        host="node7",
        pid=1,
        exit_status=0,
        ended="normally",
        gaps=[],
    ).to_bytes()


def not_fully_watched() -> bytes:
    return _core.Capture.unwatched(
        argv=["train.py"],
        python="3.11.2",
        torch="2.13.0",
        host="node7",
        pid=1,
        exit_status=0,
        ended="normally",
        gaps=[("compiled region", "torch.compile", 3)],
    ).to_bytes()


def repaired(to: Path) -> None:
    """As `nanscope fix` leaves a capture: the real proposal, with a trial of it made up here."""
    to.write_bytes(golden("backward").read_bytes())
    capture = _core.Capture.read(str(to))
    fix = json.loads(capture.json())["findings"][0]["fix"]
    losses = [101.3, 98.25, 40.5, 16.75]
    verification = {
        "status": "verified",
        "steps": 6,
        "healthy_steps_unchanged": True,
        "detail": "it met the same values again, and the gradient of `q` is finite",
        "checks": ["all 4 losses before are the same bits", "the program ran on to its end"],
        "first_loss": 132,
        "losses_before": [*losses, math.inf, math.nan],
        "losses_after": [*losses, 16.5, 16.25],
    }
    tried = [
        {"id": "narrower_clamp", "status": "failed", "detail": "`acos` met 1 again, at step 140"},
        {"id": fix["id"], "status": "verified", "detail": "the run ended well"},
    ]
    capture.repair(0, fix, verification, tried, str(to))


def cut_off(capture: bytes) -> bytes:
    """As after `kill -9`: the last record is not whole."""
    return capture[:-7]


def with_texts(capture: bytes, texts: dict[str, str]) -> bytes:
    """The same records with other texts of the same length in bytes, and right checksums."""
    swaps = [(old.encode(), new.encode().ljust(len(old.encode()))) for old, new in texts.items()]
    assert all(len(old) == len(new) and old in capture for old, new in swaps), swaps
    result, place = capture[:HEADER], HEADER
    while place < len(capture):
        kind, length, _, _ = FRAME.unpack_from(capture, place)
        payload = capture[place + FRAME.size : place + FRAME.size + length]
        for old, new in swaps:
            payload = payload.replace(old, new)
        head = struct.pack("<III", kind, length, zlib.crc32(payload))
        result += head + struct.pack("<I", zlib.crc32(head)) + payload
        place += FRAME.size + length
    return result


def with_hostile_pictures(capture: bytes) -> bytes:
    """The same in names of modules and in the lines around the expression."""
    return with_texts(
        capture,
        {
            "model.blocks.0.attention": "<img src=x onerror=a()>x",
            "q, k, v = self.query(x), self.key(x)": "</script><script>pwned()</script>",
        },
    )


def hostile() -> bytes:
    """Markup and script wherever a text can stand."""
    capture = golden("backward").read_bytes()
    return with_texts(
        capture,
        {
            "tests/cases/clamp_before_acos_backward.py": "</script><script>window.pwned=1</script>",
            "torch.acos(q[0].clamp(-1.0, 1.0))": "<img src=x onerror=window.pwned=2>"[:33],
            "aten::rsqrt": "<!--<b>`'\"$"[:11],
        },
    )


MARKUP = (
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "javascript:window.pwned=3",
    "`<!--`",
    "\u202e\u2028\x00",
    "",
    "w" * 3000,
)
NUMBERS = (0, -1, 1, 2**31, 2**53, -(2**53), 0.5, 1e308, -1e-320, float("inf"), float("nan"))


def places_in(item: object) -> Iterator[tuple[object, object]]:
    """Every container with each of its keys."""
    keys = item if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
    for key in keys:
        yield item, key
        yield from places_in(item[key])


def changed(value: object, chance: random.Random) -> object:
    if isinstance(value, bool) or value is None:
        return chance.choice([True, False, None])
    if isinstance(value, int):
        return chance.choice([n for n in NUMBERS if isinstance(n, int)])
    if isinstance(value, float):
        return chance.choice([float(n) for n in NUMBERS])
    if isinstance(value, str):
        return chance.choice(MARKUP)
    if isinstance(value, list):
        return chance.choice([[], value[:1], value * 2, list(reversed(value))])
    return value


def mutated(real: Path, seed: int, to: Path) -> None:
    """The capture with a few of its values changed to others of their kind, checksums right."""
    chance = random.Random(seed)
    records = forged.records_of(real)
    for _ in range(chance.choice([1, 4, 16])):
        container, key = chance.choice([p for _, record in records for p in places_in(record)])
        container[key] = changed(container[key], chance)
    forged.write(to, records, real)
