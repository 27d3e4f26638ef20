"""TensorBoard: a finding as scalars, text and histograms in event files.

    nanscope run --notify tensorboard:runs/nan train.py
    from nanscope.integrations.tensorboard import write
    write("nanscope-train.4242.nsc", "runs/nan")          # later, from a capture

Scalars are what the capture keeps of the steps before: loss, gradient norm, largest parameter,
update ratio, learning rate, loss scale, and the head-room of parameters and gradients: how often
the largest may still be doubled in its type. At the failing step stand, for each module of the
model, the largest values and their head-room, the non-finite elements of each finding by module,
and histograms of what went into the first bad operation and came out. The diagnosis is text.
"""

from __future__ import annotations

import math
import os
import sys

from nanscope import _core
from nanscope.findings import Exponents, Finding, Report
from nanscope.run.notices import Alert, NotNotified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

NOT_INSTALLED = "tensorboard is not installed: pip install tensorboard"
OF_A_STEP = (
    "loss",
    "gradient_norm",
    "largest_parameter",
    "update_ratio",
    "learning_rate",
    "loss_scale",
)
# No gradient is larger than their norm: the room is at least that.
ROOM_OF = {"head_room_parameters": "largest_parameter", "head_room_gradients": "gradient_norm"}


def notify(alert: Alert, place: str) -> None:
    write_report(alert.report, alert.text, place.partition(":")[2])


def write(capture: str, folder: str) -> None:
    """Writes what a capture holds into event files in `folder`."""
    alert = Alert(_core.Capture.read(capture))
    try:
        write_report(alert.report, alert.text, folder)
    except NotNotified as why:
        raise RuntimeError(f"{why}.") from None


def write_report(report: Report, text: str, folder: str) -> None:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise NotNotified(NOT_INSTALLED) from None
    os.makedirs(folder, exist_ok=True)
    with SummaryWriter(folder, filename_suffix=".nanscope") as writer:
        step = failing_step(report)
        # As code, so that the columns of the report stay what they are.
        writer.add_text("nanscope/diagnosis", "\n".join(f"    {x}" for x in text.split("\n")), step)
        for finding in report.findings[:1]:
            add_history(writer, finding)
            add_modules(writer, finding, step)
            add_histograms(writer, finding, step)
        add_counts(writer, report)


def failing_step(report: Report) -> int:
    return next((finding.origin.step for finding in report.findings), 0)


def add_history(writer: SummaryWriter, finding: Finding) -> None:
    dtype = type_of_weights(finding)
    for row in finding.history:
        for name in OF_A_STEP:
            if row[name] is not None:
                writer.add_scalar(f"nanscope/{name}", row[name], row.step)
        for name, of in ROOM_OF.items():
            room = head_room(row[of], dtype) if row[of] is not None else None
            if room is not None:
                writer.add_scalar(f"nanscope/{name}", room, row.step)


def type_of_weights(finding: Finding) -> str:
    """Empty where it is not known, or where they are of several: then whose is not known."""
    types = {module.weight_dtype for module in finding.modules} - {""}
    return types.pop() if len(types) == 1 else ""


def add_modules(writer: SummaryWriter, finding: Finding, step: int) -> None:
    for module in finding.modules:
        path = module.path or module.type
        of_activation = module.activation_dtype or module.weight_dtype
        for kind, largest, dtype in (
            ("activation", module.activation, of_activation),
            ("weight", module.weight, module.weight_dtype),
            ("gradient", module.gradient, module.weight_dtype),
        ):
            if largest is None:
                continue
            writer.add_scalar(f"nanscope_largest_{kind}/{path}", largest, step)
            room = head_room(largest, dtype)
            if room is not None:
                writer.add_scalar(f"nanscope_head_room_{kind}/{path}", room, step)


def head_room(largest: float, dtype: str) -> float | None:
    """How often it may be doubled before it is Inf in its type."""
    torch = sys.modules["torch"]
    kind = getattr(torch, dtype, None)
    if kind is None or not kind.is_floating_point or not 0 < largest < math.inf:
        return None
    return math.log2(torch.finfo(kind).max) - math.log2(largest)


def add_counts(writer: SummaryWriter, report: Report) -> None:
    """Non-finite elements by module and step, of all that was found."""
    counts: dict[tuple[str, int], int] = {}
    for finding in report.findings:
        origin = finding.origin
        key = origin.module or "outside_of_modules", origin.step
        number = origin.nan + origin.pos_inf + origin.neg_inf
        counts[key] = counts.get(key, 0) + number
    for (module, step), number in counts.items():
        writer.add_scalar(f"nanscope_nonfinite/{module}", number, step)


def add_histograms(writer: SummaryWriter, finding: Finding, step: int) -> None:
    for side, tensors in (("inputs", finding.inputs), ("outputs", finding.outputs)):
        for number, facts in enumerate(tensors):
            exponents = facts.exponents
            if exponents is None or not any(exponents.bins):
                continue
            name = facts.name or str(number)
            add_exponents(writer, f"nanscope_{side}/{name} (absolute values)", exponents, step)


def add_exponents(writer: SummaryWriter, name: str, exponents: Exponents, step: int) -> None:
    """Bins are powers of two; sums are not kept, so that they are taken from the middles."""
    bins, first, width = exponents.bins, exponents.first, exponents.width
    edges = [math.ldexp(1.0, min(first + width * i, 1023)) for i in range(len(bins) + 1)]
    middles = [math.sqrt(a) * math.sqrt(b) for a, b in zip(edges, edges[1:], strict=False)]
    filled = [i for i, count in enumerate(bins) if count]
    writer.add_histogram_raw(
        name,
        min=edges[filled[0]],
        max=edges[filled[-1] + 1],
        num=sum(bins),
        sum=sum(m * count for m, count in zip(middles, bins, strict=True)),
        sum_squares=sum(m * m * count for m, count in zip(middles, bins, strict=True)),
        bucket_limits=edges,
        bucket_counts=[0, *bins],
        global_step=step,
    )
