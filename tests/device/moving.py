"""Programs of the tests, with their tensors on the test device."""

from __future__ import annotations

import os
from pathlib import Path

import watched

HERE = Path(__file__).resolve().parent


def environment(mode: str = "lazy", **more: str) -> dict[str, str]:
    """`more`: NANSCOPE_WINDOW="64" and the like."""
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, [str(HERE), known]))
    return {"PYTHONPATH": path, "LAG_MODE": mode, **more}


def moved(program: Path, folder: Path, device: str = "lag") -> Path:
    """A copy in which new tensors are made on the device; lines and columns are as they were.

    The first line, a comment, makes room for it. What the text calls "cpu" is "lag" there. Without
    a seed of its own the program has the same random numbers on every device.
    """
    first, _, rest = program.read_text().partition("\n")
    assert first.startswith("#"), f"{program.name} begins with no comment"
    rest = rest.replace('"cpu"', f'"{device}"').replace("'cpu'", f"'{device}'")
    begin = "import torch" if device == "cpu" else f"import {device}, torch"
    begin += f"; torch.set_default_device('{device}'); torch.manual_seed(0)"
    copy = folder / program.name
    copy.write_text(f"{begin}\n{rest}")
    return copy


def as_told(finding: dict) -> dict:
    """What must be the same wherever the tensors are."""
    origin, cause = finding["origin"], finding["cause"]
    site = {key: value for key, value in (origin["site"] or {}).items() if key != "file"}
    kept = ("op", "kind", "phase", "node", "step", "indices", "value", "nan", "pos_inf", "neg_inf")
    return {
        "level": finding["level"],
        **{key: origin.get(key) for key in kept},
        **{key: site.get(key) for key in ("line", "col", "end_line", "end_col", "code")},
        "harm": finding["harm"]["kind"],
        "cause": (cause["id"], cause["certainty"], cause["sentence"]),
        "evidence": cause["evidence"],
        "experiments": cause.get("experiments"),
        "inputs": [(each["name"], each["shape"], each["at_index"]) for each in finding["inputs"]],
    }


def run_on(program: Path, folder: Path, mode: str = "lazy", **more: str) -> watched.Watched:
    """Watched, on the device."""
    folder.mkdir()
    before = dict(watched.ENVIRONMENT)
    watched.ENVIRONMENT.update(environment(mode, **more))
    try:
        return watched.watch(moved(program, folder), folder)
    finally:
        watched.ENVIRONMENT.clear()
        watched.ENVIRONMENT.update(before)


def run_here(program: Path, folder: Path) -> watched.Watched:
    """Watched, on the CPU."""
    folder.mkdir()
    return watched.watch(moved(program, folder, "cpu"), folder)


def differences(program: Path, mode: str, folder: Path, **more: str) -> dict[str, tuple]:
    """What is told otherwise on the device than on the CPU."""
    here, there = (
        run_here(program, folder / "here"),
        run_on(program, folder / "there", mode, **more),
    )
    one, other = (seen.first("error", "warning") for seen in (here, there))
    if one is None or other is None:
        assert one is None and other is None, (here.err, there.err)
        return {}
    told = as_told(one), as_told(other)
    return {key: (told[0][key], told[1][key]) for key in told[0] if told[0][key] != told[1][key]}
