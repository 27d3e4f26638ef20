"""`nanscope doctor --device cuda`: whether a device can be watched here, tried on it."""

from __future__ import annotations

import math
import os
import sys
import time

from nanscope.api import self_test
from nanscope.run import progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

    from nanscope.findings import Finding

TYPES = "float32 float64 float16 bfloat16 complex64 complex128 float8_e4m3fn float8_e5m2"
LENGTHS = (1, 2, 31, 33, 256, 1025)
STEPS = (1, 2, 3)
PLANTED = (math.nan, math.inf, -math.inf)
LOOKS = 100  # for the cost of one


def carry_out(name: str) -> int:
    """Exit status; the text goes to stdout: one block, to be pasted into an issue."""
    os.environ["NANSCOPE_DEVICES"] = name.partition(":")[0]  # it is asked for
    try:
        import torch

        there = torch.ones(1, device=name).device
    except Exception as error:
        return status_of([], f"{name} is not there: {first_line(error)}")
    lines = [f"device   {there}"]
    wrong = []
    with progress.counted(f"trying {there}"):
        for part in (try_types, try_places, try_births, try_losses):
            text, problem = part(there)
            lines.append(text)
            wrong += [problem] if problem else []
        lines += looks(there)
        lines.append(cost(there))
    return status_of(lines, "; ".join(wrong), there)


def status_of(lines: list[str], wrong: str, device: torch.device | None = None) -> int:
    if wrong:
        lines.append(f"not watched: {wrong}")
    elif device is not None and device.type in ("cuda", "xpu", "mps", "hpu", "mtia"):
        lines.append(
            f"watched: {device.type}, by a look after each operation; a run without a finding "
            "is still called unknown, since nanscope has not been seen at work on such devices"
        )
    else:
        lines.append(f"watched: {device.type}, by a look after each operation")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if wrong else 0


def first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def try_types(device: torch.device) -> tuple[str, str]:
    """Numbers, NaN and Inf planted in tensors of every type that the device has."""
    import torch

    from nanscope import _torch

    good, bad = [], []
    for name in TYPES.split():
        try:
            sample = torch.zeros(2, dtype=getattr(torch, name)).to(device)
        except Exception:
            continue  # no tensor of this type can be there
        trouble = _torch.trouble_on_device(sample)
        (bad if trouble else good).append(f"{name}: {trouble}" if trouble else name)
    text = f"types    {', '.join(good) or 'none'}" + (f"; not {'; '.join(bad)}" if bad else "")
    return text, "" if "float32" in good else "float32 cannot be looked at"


def views(device: torch.device) -> Iterator[tuple[torch.Tensor, bool]]:
    """Parts of tensors, at many offsets and with gaps, and whether they are bad."""
    import torch

    for length in LENGTHS:
        for step in STEPS:
            for offset in range(4):
                for at in {0, length // 2, length - 1}:
                    for planted in PLANTED:
                        whole = torch.ones(offset + length * step + 5)
                        whole[offset + at * step] = planted
                        whole[offset + length * step :] = math.nan  # what is not looked at
                        part = whole.to(device)[offset : offset + length * step : step]
                        yield part, True
                        yield part[:at], False


def try_places(device: torch.device) -> tuple[str, str]:
    from nanscope import _torch

    total = wrong = 0
    for part, is_bad in views(device):
        if part.numel() == 0:
            continue
        largest = _torch.largest_on_device(part)
        total += 1
        wrong += largest is None or math.isfinite(largest) == is_bad
    text = f"places   {total - wrong} of {total} tensors with offsets and gaps seen as they are"
    return text, "parts of tensors are not seen as they are" if wrong else ""


def identity_of(finding: Finding | None) -> tuple | None:
    if finding is None or finding.origin.site is None:
        return None
    origin = finding.origin
    return origin.op, origin.node, origin.phase, origin.site.line, finding.cause.id


def try_births(device: torch.device) -> tuple[str, str]:
    """The births of the self-test: found, and found to be the same as on the CPU."""
    here = {planted.name: identity_of(found) for planted, found, _ in self_test.findings()}
    total = same = 0
    for planted, found, problem in self_test.findings(device):
        total += 1
        same += problem is None and identity_of(found) == here[planted.name]
        if problem is not None or identity_of(found) != here[planted.name]:
            sys.stdout.write(f"{planted.name}: {problem or identity_of(found)}\n")
    text = f"births   {same} of {total} found as on the CPU"
    return text, "not every planted birth was found" if same < total else ""


def train(device: torch.device) -> list[float]:
    import torch

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
    net, x = net.to(device), torch.randn(32, 8).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def try_losses(device: torch.device) -> tuple[str, str]:
    from nanscope.api.watch import watch

    plain = train(device)
    began = time.perf_counter()
    again = train(device)
    seconds = time.perf_counter() - began
    if plain != again:
        return "losses   not compared: two plain runs differ here", ""
    with watch():
        began = time.perf_counter()
        watched = train(device)
        times = (time.perf_counter() - began) / max(seconds, 1e-9)
    text = f"losses   the same with and without, {'yes' if watched == plain else 'no'}"
    text += f"; a tiny training takes {times:.1f} times as long"
    return text, "" if watched == plain else "the losses of a training change"


def looks(device: torch.device) -> list[str]:
    """By whose kernel it was looked at; known of CUDA alone."""
    from nanscope import _torch

    architecture, why_not = _torch.cuda_looks()
    if architecture:
        return [f"looks    by a kernel of nanscope's, sm_{architecture}"]
    return [f"looks    by torch's norm: {why_not}"] if why_not else []


def cost(device: torch.device) -> str:
    import torch

    from nanscope import _torch

    sample = torch.ones(1 << 16, device=device)
    _torch.largest_on_device(sample)
    began = time.perf_counter()
    for _ in range(LOOKS):
        _torch.largest_on_device(sample)
    spent = (time.perf_counter() - began) / LOOKS
    return f"cost     {spent * 1e6:.0f} microseconds a look at 65,536 numbers, waiting included"
