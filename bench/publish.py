"""Writes what was measured: docs/overhead.json, docs/overhead.md, docs/overhead.svg, README.

    bench/publish.py --from FOLDER    collect what make bench left: .json and .txt
    bench/publish.py                  write the pages again from docs/overhead.json

The pages are functions of the JSON and of nothing else; a test compares them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path

from plot import plot

ROOT = Path(__file__).resolve().parent.parent
JSON = ROOT / "docs" / "overhead.json"
PAGE = ROOT / "docs" / "overhead.md"
PLOT = ROOT / "docs" / "overhead.svg"
README = ROOT / "README.md"
BEGIN, END = "<!-- from docs/overhead.json -->\n", "<!-- end -->"
RIVALS = ("detect_anomaly", "dispatch_mode", "module_hooks")
OURS = ("exact", "sentinel", "left")
# What make bench leaves in files of these names.
PARTS = (
    "overhead",
    "split",
    "instructions",
    "costs",
    "sentinel",
    "compiled",
    "checkpoints",
    "pages",
)
NOT_MEASURED = "not measured in this run\n"
BESIDE_PLAIN = """
Each figure is a ratio in CPU time to a Python that has never heard of nanscope: the median of {}
repeats, with the least and the largest. *plain again* is another plain process, measured in the
same way: what it differs from 1 is the noise, and so is as much in every other column. What lies
below the noise is judged by the instructions below. Goals are the project's own. Load while this
was measured: {} to {}.
"""


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "?")


def collect(folder: Path) -> dict:
    import torch

    measured = json.loads(JSON.read_text()) if JSON.exists() else {}
    if (folder / "overhead.json").exists():
        measured.pop("steps", None)
        measured.pop("note", None)  # it told of the figures that are replaced
    if "machine" not in measured or (folder / "overhead.json").exists():
        measured["machine"] = {
            "processor": processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "torch": torch.__version__,
            "load": [round(x, 1) for x in os.getloadavg()],
        }
    for name in PARTS:
        if (folder / f"{name}.json").exists():
            measured[name] = json.loads((folder / f"{name}.json").read_text())
    for name in ("scan", "long_run", "note"):
        if (folder / f"{name}.txt").exists():
            measured[name] = (folder / f"{name}.txt").read_text().strip()
    return measured


def rows(header: str, lines: list[str]) -> str:
    rule = "|" + "---|" * header.count(" | ") + "---|"
    return "\n".join([f"| {header} |", rule, *[f"| {line} |" for line in lines]]) + "\n"


def ratio(step: dict, name: str, form: str = ".2f") -> str:
    return format(step[name], form) if name in step else "-"


def beside_plain(measured: dict) -> dict[str, dict]:
    """Of each training step the ratios to plain PyTorch by mode, as plot and README show them.

    `steps` are those of an earlier bench, in one process with our wrappers switched off.
    """
    if "overhead" not in measured:
        return measured["steps"]
    return {
        name: {"plain_ms": x["plain_ms"], "nanscope": x["ratios"]["exact"][0]}
        | {mode: x["ratios"][mode][0] for mode in RIVALS if mode in x["ratios"]}
        for name, x in measured["overhead"].items()
    }


def with_range(ratios: dict, mode: str) -> str:
    if mode not in ratios:
        return "-"
    median, least, largest = ratios[mode]
    return f"{median:.3f} ({least:.3f}-{largest:.3f})"


def steps_table(measured: dict) -> str:
    if "overhead" not in measured:
        return earlier_table(measured)
    lines = []
    for name, x in measured["overhead"].items():
        ours = [with_range(x["ratios"], mode) for mode in (*OURS, "again")]
        medians = {mode: found[0] for mode, found in x["ratios"].items()}
        others = [ratio(medians, rival) for rival in RIVALS]
        lines.append(
            f"{name} | {x['plain_ms']:.2f} | {x['goal']:.2f} | {' | '.join(ours)} "
            f"| {' / '.join(others)}"
        )
    loads = [x["load"] for x in measured["overhead"].values()]
    table = rows(
        "training step | plain, ms | goal | nanscope | mode sentinel | a `watch()` that was left "
        "| plain again | anomaly mode / dispatch mode / module hooks",
        lines,
    )
    repeats = min(x["repeats"] for x in measured["overhead"].values())
    return table + BESIDE_PLAIN.format(repeats, min(loads), max(loads))


def earlier_table(measured: dict) -> str:
    lines = [
        f"{name} | {x['plain_ms']:.1f} | {x['nanscope']:.3f} | "
        + " / ".join(ratio(x, r) for r in RIVALS)
        for name, x in measured["steps"].items()
    ]
    table = rows(
        "training step | plain, ms | nanscope | anomaly mode / dispatch mode / module hooks", lines
    )
    return (
        f"{table}\nThese are of an earlier bench, in one process: its plain steps have our "
        "wrappers installed and switched off.\n"
    )


def instructions_table(measured: dict) -> str:
    if "instructions" not in measured:
        return NOT_MEASURED
    lines = [
        f"{name} | {x['plain'] / 1e6:.2f} | "
        + " | ".join(f"{x[mode] / x['plain']:.4f}" for mode in OURS)
        for name, x in measured["instructions"].items()
    ]
    return rows(
        "training step | plain, million | nanscope | mode sentinel | a `watch()` that was left",
        lines,
    )


def memory_table(measured: dict) -> str:
    if "overhead" not in measured:
        return NOT_MEASURED
    lines = [
        f"{name} | {x['plain_peak_mb']} | "
        + " | ".join(f"{x['more_mb'][mode]:+.1f}" for mode in (*OURS, "again"))
        for name, x in measured["overhead"].items()
    ]
    return rows(
        "training step | plain, MB | nanscope | mode sentinel | a `watch()` that was left "
        "| plain again",
        lines,
    )


def parts_table(measured: dict) -> str:
    steps = measured.get("split") or measured.get("steps")
    if not steps:
        return NOT_MEASURED
    lines = []
    for name, step in steps.items():
        us = step["parts_us"]
        rest = us["return"] - sum(us[x] for x in ("nodes", "outputs", "inputs", "hit", "aside"))
        lines.append(
            f"{name} | {1 + step['share']:.3f} | {step['ops']} | {step['scanned_mb']:.1f} "
            f"| {us['begin']:.0f} | {us['nodes']:.0f} | {us['outputs']:.0f} | {us['inputs']:.0f} "
            f"| {us['hit']:.0f} | {max(0, rest):.0f} | {us['moment']:.0f}"
        )
    return rows(
        "training step | share | ops | MB scanned | before the kernel | nodes | scan and marks "
        "| inputs | hits | rest | hooks",
        lines,
    )


def sentinel_table(measured: dict) -> str:
    if "sentinel" not in measured:
        return NOT_MEASURED
    lines = [
        f"{name} | {x['plain_ms']:.1f} | {x['looks_us']:.0f} | {1 + x['looks']:.4f} "
        f"| {x['fork_ms']:.0f} | {x['copying_ms']:.0f} | {x['pause_s']} | **{1 + x['share']:.4f}**"
        for name, x in measured["sentinel"].items()
    ]
    loads = [x["load"] for x in measured["sentinel"].values()]
    table = rows(
        "training step | plain, ms | looks, us | share of looks | a fork, ms | copying, ms "
        "| pause, s | share",
        lines,
    )
    return f"{table}\nLoad while this was measured: {min(loads)} to {max(loads)}.\n"


def compiled_table(measured: dict) -> str:
    if "compiled" not in measured:
        return NOT_MEASURED
    steps = measured["compiled"]["steps"]
    lines = [f"{name} | {1 + x['share']:.4f} | {x['regions_us']:.0f}" for name, x in steps.items()]
    table = rows("training step | share | in regions, us", lines)
    loads = [x["load"] for x in steps.values()]
    text = f"{table}\nLoad while this was measured: {min(loads)} to {max(loads)}.\n"
    if "compile" in measured["compiled"]:
        x = measured["compiled"]["compile"]
        text += "\n" + rows(
            "a process with one step of the GPT, model and AdamW compiled | `python`, s | "
            "`nanscope run`, s",
            [
                f"empty caches | {x['python_cold_s']:.1f} | {x['nanscope_cold_s']:.1f}",
                f"caches that the same process filled | {x['python_warm_s']:.1f} "
                f"| {x['nanscope_warm_s']:.1f}",
            ],
        )
    return text


def checkpoints_table(measured: dict) -> str:
    if "checkpoints" not in measured:
        return NOT_MEASURED
    lines = [
        f"{file} | {x['gigabytes']:.2f} | {way} | {y['seconds']:.2f} | {y['cpu_seconds']:.2f} "
        f"| {y['peak_mb']}"
        for file, x in measured["checkpoints"]["files"].items()
        for way, y in x["ways"].items()
    ]
    table = rows("file | GB | way | seconds | of CPU | peak memory, MB", lines)
    return f"{table}\nLoad while this was measured: {measured['checkpoints']['load'][0]}.\n"


def pages_table(measured: dict) -> str:
    if "pages" not in measured:
        return NOT_MEASURED
    of = measured["pages"]
    lines = [
        f"{name} | {x['kilobytes']} | {x['ready_ms']} | {x['painted_ms']}"
        for name, x in of["pages"].items()
    ]
    table = rows("page | kB | ready, ms | painted, ms", lines)
    return f"{table}\nMedians of {of['rounds']}; load while this was measured: {of['load'][0]}.\n"


def readme_table(measured: dict) -> str:
    lines = []
    for name, step in beside_plain(measured).items():
        ratios = " | ".join(ratio(step, mode) for mode in ("nanscope", *RIVALS))
        lines.append(f"{name} | {step['plain_ms']:.1f} ms | {ratios}")
    return rows(
        "training step | plain PyTorch | nanscope | `detect_anomaly` | Python dispatch mode "
        "| module hooks",
        lines,
    )


def once(costs: dict) -> dict[str, str]:
    """What is paid once, in words."""
    words = dict.fromkeys(
        ("start_up", "cold_start_up", "show", "diagnosis"), "not measured in this run"
    )
    if "start_up" in costs:
        x = costs["start_up"]
        words["start_up"] = (
            f"{x['cpu_ms']} ms of CPU, {x['wall_ms']} ms of wall clock "
            f"(`import torch` alone: {x['python_cpu_ms']} ms of CPU)"
        )
    if "cold_start_up" in costs:
        x = costs["cold_start_up"]
        words["cold_start_up"] = (
            f"{x['cpu_ms']} ms of CPU, {x['wall_ms']} ms of wall clock "
            f"(`import torch` alone: {x['python_wall_ms']} ms of wall clock)"
        )
    if "show" in costs:
        x = costs["show"]
        words["show"] = f"{x['cpu_ms']} ms of CPU, {x['wall_ms']} ms of wall clock"
    if "diagnosis" in costs:
        x = costs["diagnosis"]
        words["diagnosis"] = (
            f"{x['wall_s']} s of wall clock beyond a healthy step of {x['healthy_step_s']} s"
        )
    return words


def page(measured: dict) -> str:
    machine = measured["machine"]
    text = (ROOT / "bench" / "overhead_page.md").read_text()
    fields = {
        "machine": f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, "
        f"torch {machine['torch']}; load when this was written {machine['load']}",
        "note": measured.get("note", ""),
        "steps": steps_table(measured),
        "instructions": instructions_table(measured),
        "memory": memory_table(measured),
        "parts": parts_table(measured),
        "sentinel": sentinel_table(measured),
        "compiled": compiled_table(measured),
        "checkpoints": checkpoints_table(measured),
        "pages": pages_table(measured),
        "scan": measured.get("scan", "not measured in this run"),
        "long_run": measured.get("long_run", "not measured in this run"),
    } | once(measured.get("costs", {}))
    for name, value in fields.items():
        text = text.replace("{" + name + "}", value)
    return text


def readme(text: str, measured: dict) -> str:
    before, rest = text.split(BEGIN, 1)
    return before + BEGIN + readme_table(measured) + END + rest.split(END, 1)[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="folder", type=Path)
    folder = parser.parse_args().folder
    measured = json.loads(JSON.read_text()) if folder is None else collect(folder)
    JSON.write_text(json.dumps(measured, indent=1) + "\n")
    PAGE.write_text(page(measured))
    PLOT.write_text(plot(beside_plain(measured)))
    README.write_text(readme(README.read_text(), measured))


if __name__ == "__main__":
    main()
