"""Random programs, each run plainly and then watched: is the first bad line the one that is named?

    program_fuzzer.py PROGRAMS [FIRST_SEED]
    program_fuzzer.py --seconds SECONDS

A program is a list of lines over a few tensors: views (transposed, overlapping, negated, of another
type), arithmetic, in-place ops, out= that is an operand, casts, memory that nobody has written
(empty, resize_), of which nothing gets into a result, and NumPy, DLPack and raw bytes between.
It is made line by line while it runs plainly, and ends with the first line that leaves
something non-finite. Then it runs watched: the error must name that very line, a birth where an op
made the value, an import where another hand wrote it (the next reader, where it wrote numbers of
another type); a program that stays finite must be clean.
Every proof that a result is finite (Note [Rule M]) is checked by a scan on the way.

Prints one JSON object. With --seconds the seeds are new ones every time; each fault is printed when
it is found, with the command that repeats it, and the status is 1 if there was any.
"""

from __future__ import annotations

import json
import random
import secrets
import sys
import time
import warnings

import torch

import nanscope
from nanscope import _torch as adapter

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

LINES = 40
START = """\
import numpy as np
import torch
torch.manual_seed({seed})
def part_by_part(x):
    made = torch.empty_like(x)
    made[1::2] = x[1::2]
    made[::2].copy_(x[::2])
    return made
def a_part(x):
    return torch.empty(x.numel() + 40, dtype=x.dtype)[16:-24].copy_(x.reshape(-1)).clone()
a = torch.randn(64, 48)
b = torch.rand(64, 48) + 0.5
c = torch.randn(48, 64)
"""
NUMBERS = ("0.5", "2.0", "-1.5", "1e-3", "3e4", "1e10", "1e-20", "7e18")
TYPES = ("float16", "bfloat16", "float32", "float32", "float64")

VIEWS = (
    "{x}.t()",
    "{x}[::2]",
    "{x}[3:40]",
    "{x}[..., 1:]",
    "{x}.reshape(-1)",
    "{x}.unsqueeze(0).expand(3, *{x}.shape)",
    "torch.as_strided({x}, (40, 50), (1, 3))",
    "{x}.diagonal()",
    "{x}._neg_view()",
    "torch.view_as_complex({x}.reshape(-1, 2)).conj().imag",
    "torch.view_as_complex({x}.reshape(-1, 2)).real",
    "{x}.view(torch.int32).view(torch.float32)",
    "{x}.view(torch.float16)",
    "{x}.unfold(0, 4, 2)",
)
MAKES = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} / {y}",
    "{x} * {n}",
    "{x} / {n}",
    "{x} + {n}",
    "{x} @ {y}",
    "{x} @ {x}.t()",
    "{x}.abs()",
    "{x}.neg()",
    "{x}.clone()",
    "{x}.contiguous()",
    "{x}.relu()",
    "{x}.tanh()",
    "{x}.sigmoid()",
    "{x}.exp()",
    "{x}.log()",
    "{x}.sqrt()",
    "{x}.abs().sqrt()",
    "{x}.rsqrt()",
    "{x}.pow(2)",
    "{x}.pow(3)",
    "{x}.softmax(-1)",
    "{x}.log_softmax(-1)",
    "{x}.sum(0)",
    "{x}.mean(-1, keepdim=True)",
    "{x}.cumsum(0)",
    "{x}.std(0)",
    "{x}.clamp(-3, {n})",
    "{x}.flip(0)",
    "{x}.roll(5)",
    "{x}.to(torch.{t})",
    "torch.where({x} > 0, {x}, {y})",
    "torch.maximum({x}, {y})",
    "torch.cat([{x}, {x}])",
    "torch.lerp({x}, {y}, 0.3)",
    "torch.addcmul({x}, {y}, {y})",
    "torch.addcdiv({x}, {y}, {y}, value={n})",
    "torch.nn.functional.layer_norm({x}, {x}.shape[-1:])",
    "torch.nn.functional.gelu({x})",
    "torch.nn.functional.silu({x})",
    "torch.zeros_like({x})",
    "torch.ones_like({x})",
    "{x}.masked_fill({x} > 1, {n})",
    "{x}.index_select(0, torch.arange(2))",
    "torch.from_numpy(np.ones((64, 48), np.float32))",
)
WRITES = (
    "{x}.add_({y})",
    "{x}.sub_({x})",
    "{x}.mul_({n})",
    "{x}.mul_({x})",
    "{x}.div_({x})",
    "{x}.div_({y})",
    "{x}.sqrt_()",
    "{x}.abs_()",
    "{x}.neg_()",
    "{x}.exp_()",
    "{x}.log_()",
    "{x}.clamp_(min=0)",
    "{x}.copy_({y})",
    "{x}.zero_()",
    "{x}.fill_({n})",
    "{x}.normal_()",
    "{x}.uniform_(-1, 1)",
    "{x}.pow_(2)",
    "{x}.lerp_({y}, 0.5)",
    "{x}.addcmul_({y}, {y}, value={n})",
    "{x}.masked_fill_({x} < 0, {n})",
    "{x}[2].copy_({x}[1])",
    "{x}[0] = {n}",
    "{x}.t().mul_({n})",
    "{x}._neg_view().copy_({y})",
    "{x}._neg_view().abs_()",
    "torch.add({x}, {y}, out={x})",
    "torch.mul({x}, {x}, out={x})",
    "torch.sqrt({x}, out={x})",
    "torch.log({x}, out={x})",
    "torch.div({y}, {x}, out={x})",
    "torch.exp({x}, out={y})",
    "torch.sub({x}, {y}, out={y})",
    "torch.cumsum({x}, 0, out={x})",
    "torch._foreach_mul_([{x}, {y}], {n})",
    "torch._foreach_sqrt_([{x}])",
)
# In memory that nobody has written; each name holds only what was, before its line ends.
UNWRITTEN = (
    "{z} = torch.empty(20, 30).fill_({n})",
    "{z} = torch.empty_like({x}).normal_()",
    "{z} = torch.empty_like({x}).copy_({y})",
    "{z} = torch.mul({x}, {y}, out=torch.empty(0))",
    "{z} = torch.log({x}, out=torch.empty_like({x}))",
    "{z} = torch.div({x}, {y}, out=torch.empty(70, 60)[:64, :48])",
    "{z} = torch.empty({x}.shape[::-1], dtype={x}.dtype).t().copy_({x})",
    "{z} = part_by_part({x})",
    "{z} = a_part({x})",
    "{z} = part_by_part({x} * {n})",
    "{z} = torch.where({x} == {x}, {x}, torch.empty_like({x}))",
    "{z} = torch.empty_like({x}).nan_to_num(0, 0, 0).abs().mul_(0)",
    "{z} = {x}.new_empty(33).uniform_(-1, 1)",
    "if {x}.is_contiguous(): {x}.resize_({x}.numel() // 2)",
    "if {x}.is_contiguous(): {x}.resize_(0).resize_({x}.shape)",
    "if {x}.is_contiguous(): {z} = {x}.clone().resize_({x}.numel() // 3).sqrt()",
    "{x}.resize_(70, 50).fill_({n})",
    "{x}.resize_(9, 400).normal_()",
    "{x}.resize_(0).resize_(64, 48).uniform_(-1, 1)",
    "{z} = {x}.clone().resize_(48, 64).zero_()",
)
# By another hand than an op of torch.
OUTSIDE = (
    "{x}.numpy()[0] = {n}",
    "{x}.numpy().flat[3] = float('nan')",
    "np.from_dlpack({x}).flat[1] = {n}",
    "{x}.untyped_storage().fill_(0x4f)",
    "{x}.view(torch.int16).fill_(0x4f4f)",
    "{x}.untyped_storage()[3] = 0x7f",
    "keep = {x}.detach().numpy()",
    "keep *= np.float32({n})",
    "keep[...] = 0.25",
)
FAMILIES = ((VIEWS, 3), (MAKES, 8), (WRITES, 5), (UNWRITTEN, 3), (OUTSIDE, 1))


def tensors_in(space: dict) -> dict[str, torch.Tensor]:
    return {name: value for name, value in space.items() if isinstance(value, torch.Tensor)}


def first_bad(space: dict) -> str | None:
    for name, value in tensors_in(space).items():
        if value.is_floating_point() and not torch.isfinite(value).all():
            return name
    return None


def reaches_beyond_its_memory(tensor: torch.Tensor) -> bool:
    """A resize_ that torch refuses, of memory that NumPy shares, has changed the sizes already:
    whoever writes such a tensor writes memory of others.
    """
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    last = tensor.storage_offset() + sum((size - 1) * stride for size, stride in steps)
    return tensor.numel() > 0 and (last + 1) * tensor.itemsize > tensor.untyped_storage().nbytes()


class Program:
    """Its lines, and how it ended when it ran plainly."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.lines = START.format(seed=seed).splitlines()
        self.space: dict[str, object] = {}
        self.bad: str | None = None  # the first bad tensor
        self.outside = False  # its last line is not an op of torch
        exec("\n".join(self.lines), self.space)
        for _ in range(LINES):
            self.add_line()
            if self.bad is not None:
                break

    def add_line(self) -> None:
        families = [family for family, _ in FAMILIES]
        family = self.choose.choices(families, [weight for _, weight in FAMILIES])[0]
        tensors = list(tensors_in(self.space))
        line = self.choose.choice(family).format(
            x=self.choose.choice(tensors),
            y=self.choose.choice(tensors),
            n=self.choose.choice(NUMBERS),
            t=self.choose.choice(TYPES),
            z=self.choose.choice("abcdefg"),
        )
        if family is VIEWS or family is MAKES:
            line = f"{self.choose.choice('abcdefg')} = {line}"
        line = line.replace("keep *=", "if 'keep' in vars(): keep *=")
        line = line.replace("keep[...]", "if 'keep' in vars(): keep[...]")
        try:
            exec(line, self.space)
        except Exception:
            if any(reaches_beyond_its_memory(each) for each in tensors_in(self.space).values()):
                raise Unfit from None
            return
        if any(value.numel() > 1 << 20 for value in tensors_in(self.space).values()):
            raise Unfit
        self.lines.append(line)
        self.bad = first_bad(self.space)
        self.outside = family is OUTSIDE

    def runs_alike(self) -> bool:
        """A line that raised has left nothing behind: without it the program ends as it did."""
        space: dict[str, object] = {}
        try:
            exec("\n".join(self.lines[:-1]), space)
            if first_bad(space) is not None:
                return False
            exec(self.lines[-1], space)
        except Exception:
            return False
        return first_bad(space) == self.bad

    def holds_nan(self) -> bool:
        return bool(torch.isnan(self.space[self.bad]).any())

    def reads_bits_of_others(self) -> bool:
        """The last line wrote finite numbers of another type over what is bad now."""
        bad = self.space[self.bad]
        return any(
            value.dtype != bad.dtype
            and value.untyped_storage().data_ptr() == bad.untyped_storage().data_ptr()
            for value in tensors_in(self.space).values()
        )

    def text(self) -> str:
        last = [f"print(({self.bad}.double() * 0).sum().item())"] if self.bad is not None else []
        return "\n".join([*self.lines, *last]) + "\n"


class Unfit(Exception):
    """The program would take too long, or has broken its own memory."""


def complaint(program: Program) -> str | None:
    """What nanscope says of it that is not so."""
    text = program.text()
    with nanscope.watch(on_find="report") as watch:
        exec(compile(text, "fuzzed.py", "exec"), {})
    finding = watch.finding
    if program.bad is None:
        return None if finding is None else f"an error in a program that stays finite: {finding}"
    if finding is None:
        return "nothing was found"
    kind, site = finding.origin.kind, finding.origin.site
    line = site.line if site is not None else None
    if program.outside:
        # The NaN that a last line makes of an Inf from outside is that line's own.
        of_inf = kind == "birth" and line == len(program.lines) + 1 and not program.holds_nan()
        return None if kind in ("imported", "unwatched") or of_inf else f"{kind}, not imported"
    if kind == "unwatched" and line == len(program.lines) + 1 and program.reads_bits_of_others():
        return None
    if kind != "birth" or line != len(program.lines):
        return f"{kind} at line {line}, not a birth at line {len(program.lines)}"
    return None


def silently(act):
    """What it prints is the program's."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return act()


class Report:
    """What was run, and what was wrong."""

    def __init__(self) -> None:
        self.counts = {"programs": 0, "ended_badly": 0, "by_another_hand": 0, "lines": 0}
        self.wrong: list[dict] = []

    def run(self, seed: int) -> dict | None:
        """One program; its fault, if it has one. What cannot be repeated is left out."""
        try:
            program = Program(seed)
        except Unfit:
            return None
        if not program.runs_alike():
            return None
        broken = len(adapter.proofs()[1])
        adapter.check_proofs(True)
        wrong = silently(lambda: complaint(program))
        adapter.check_proofs(False)
        self.counts["programs"] += 1
        self.counts["lines"] += len(program.lines)
        self.counts["ended_badly"] += program.bad is not None
        self.counts["by_another_hand"] += program.bad is not None and program.outside
        if len(adapter.proofs()[1]) > broken:
            wrong = f"a proof that does not hold: {adapter.proofs()[1][broken:]}"
        if wrong is None:
            return None
        self.wrong.append({"seed": seed, "what": wrong, "program": program.text()})
        return self.wrong[-1]

    def __str__(self) -> str:
        proofs, broken = adapter.proofs()
        whole = {**self.counts, "wrong": self.wrong, "proofs": proofs, "broken_proofs": broken}
        return json.dumps(whole)


def run_seeds(programs: int, first_seed: int) -> None:
    report = Report()
    for seed in range(first_seed, first_seed + programs):
        report.run(seed)
    print(report)


def run_for(seconds: float) -> int:
    report, end = Report(), time.monotonic() + seconds
    while time.monotonic() < end:
        fault = report.run(secrets.randbelow(1 << 40))
        if fault is not None:
            again = f"{sys.executable} {sys.argv[0]} 1 {fault['seed']}"
            print(f"{fault['what']}\n{fault['program']}again: {again}\n", flush=True)
    proofs, broken = adapter.proofs()
    counts = ", ".join(f"{name} {count}" for name, count in report.counts.items())
    print(f"{counts}, proofs {proofs}, broken proofs {len(broken)}, wrong {len(report.wrong)}")
    return int(bool(report.wrong))


if __name__ == "__main__":
    if sys.argv[1] == "--seconds":
        sys.exit(run_for(float(sys.argv[2])))
    run_seeds(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
