"""Every sample of torch's own op_db with the watch on and off: the same bits, both ways.

    op_db_part.py PART PARTS DTYPE [FORM]

FORM is how the operands lie in memory: plain, negated (lazily; complex ones conjugated), strided
(every second element), or out (the result is written over the first operand).

Every proof of Note [Rule M] is checked by a scan on the way. Prints one JSON object. A sample that
differs from itself (`empty`, some `lstsq`: uninitialised memory) says nothing and is left out; they
are counted and named.
"""

from __future__ import annotations

import json
import random
import sys
import warnings

import numpy
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

from nanscope.moments import attach
from nanscope.run.settings import Settings

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

SCALES = (2.0**20, 2.0**-20)  # sizes to try Note [Rule M] with


def bits(value: object) -> object:
    if not isinstance(value, torch.Tensor):
        return repr(value)
    t = value.detach()
    if t.layout != torch.strided or t.is_nested or t.device.type != "cpu":
        return str(t.layout), tuple(t.shape), str(t.device)
    t = t.resolve_conj().resolve_neg()
    t = t.int_repr() if t.is_quantized else t
    dense = torch.empty(t.numel(), dtype=t.dtype)
    dense.view(t.shape).copy_(t)
    return (
        str(t.dtype),
        tuple(t.shape),
        tuple(t.stride()),
        dense.view(torch.uint8).numpy().tobytes(),
    )


def laid_out(x: torch.Tensor, form: str) -> torch.Tensor:
    """The same values in another form."""
    if form == "negated":
        return x.conj_physical().conj() if x.is_complex() else x.neg()._neg_view()
    if form == "strided":
        return torch.stack([x, x], -1)[..., 0]
    return x


def copy_of(sample: object, scale: float, form: str) -> object:
    def copied(x: object) -> object:
        if not isinstance(x, torch.Tensor):
            return x
        y = x.detach()
        dense = y.layout == torch.strided and not y.is_nested and not y.is_quantized
        if dense and (y.is_floating_point() or y.is_complex()):
            y = y - 0.0  # computed: its ceiling is known
            y = y * scale if scale != 1 else y
            y = laid_out(y, form)
        else:
            y = y.clone()
        return y.requires_grad_() if x.requires_grad else y

    return tree_map(copied, (sample.input, sample.args, sample.kwargs))


def run(op, sample, backward: bool, scale: float = 1, form: str = "plain") -> list:
    given, args, kwargs = copy_of(sample, scale, form)
    if form == "out":
        kwargs = {**kwargs, "out": given}
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    try:
        flat = tree_flatten(op(given, *args, **kwargs))[0]
    except Exception as error:
        return ["raised", type(error).__name__, str(error)[:120]]
    result = [bits(x) for x in flat]
    if not backward:
        return result
    outputs = [x for x in flat if isinstance(x, torch.Tensor) and x.requires_grad]
    leaves = [
        x
        for x in tree_flatten((given, args, kwargs))[0]
        if isinstance(x, torch.Tensor) and x.requires_grad
    ]
    if outputs and leaves:
        try:
            ones = [torch.ones_like(x) for x in outputs]
            result += [
                bits(g) for g in torch.autograd.grad(outputs, leaves, ones, allow_unused=True)
            ]
        except Exception as error:
            result += ["raised in backward", type(error).__name__, str(error)[:120]]
    return result


def samples_of(op, dtype, backward: bool) -> list:
    torch.manual_seed(1)
    random.seed(1)
    return list(op.sample_inputs("cpu", dtype, requires_grad=backward))


def reads_unwritten_memory(op, sample) -> bool:
    """What is known to: its result is an accident, alike or not."""
    return op.name == "linalg.lstsq" and sample.kwargs.get("driver") == "gelsy"


def differs_from_itself(op, sample, backward, form, off: list, on: list, adapter) -> bool:
    """Without the watch or with it, in memory that other tensors have just left: what the watch
    itself does to a result, it does every time.
    """
    rng = random.Random(0)
    for number in range(600):
        held = [torch.full((rng.randrange(1, 600),), float("nan")) for _ in range(10)]
        del held[rng.randrange(10) :]
        watched = number % 2 == 0
        adapter.watch(watched)
        now = run(op, sample, backward, 1, form)
        adapter.watch(False)
        if now != (on if watched else off):
            return True
    return False


def compare(op, dtype, form: str, adapter, report: dict) -> None:
    name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
    backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    backward = backward and form != "out"
    for number, sample in enumerate(samples_of(op, dtype, backward)):
        off = run(op, sample, backward, 1, form)
        adapter.begin_anew()
        adapter.watch(True)
        on = run(op, sample, backward, 1, form)
        for scale in SCALES:
            run(op, sample, backward, scale, form)
        adapter.watch(False)
        report["samples"] += 1
        report["raised"] += off[:1] == ["raised"]
        if off == on:
            continue
        accident = reads_unwritten_memory(op, sample)
        if accident or differs_from_itself(op, sample, backward, form, off, on, adapter):
            report["not_comparable"][name] = report["not_comparable"].get(name, 0) + 1
        else:
            report["different"].append(f"{name} sample {number}")


def main(part: int, parts: int, dtype: torch.dtype, form: str) -> None:
    adapter = attach.load(torch)
    assert not isinstance(adapter, str), adapter
    attach.connect_exact(torch, adapter, Settings(on_error="go_on"))
    adapter.begin(adapter.SessionOptions(on_error="go_on"))
    adapter.watch(False)
    adapter.check_proofs(True)
    report = {"ops": 0, "samples": 0, "raised": 0, "different": [], "not_comparable": {}}
    for number, op in enumerate(op_db):
        fits = dtype in op.supported_dtypes("cpu") and (form != "out" or op.supports_out)
        if number % parts == part and fits:
            report["ops"] += 1
            compare(op, dtype, form, adapter, report)
    report["proofs"], report["broken_proofs"] = adapter.proofs()
    report["ops_watched"] = adapter.counters()[0]
    print(json.dumps(report))


if __name__ == "__main__":
    form = sys.argv[4] if len(sys.argv) > 4 else "plain"
    main(int(sys.argv[1]), int(sys.argv[2]), getattr(torch, sys.argv[3]), form)
