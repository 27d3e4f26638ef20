"""Which arguments do torch's CPU kernels write without their schema saying so?

    hidden_writes_part.py PART PARTS

Runs samples of all of torch's op_db (in place, too), module_db and optim_db, the backward of each,
and what those leave out; compares each tensor argument of each op before and after, bit by bit.
Prints one JSON object: the ops that ran, and
"op argument" for every write that the schema hides.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from functools import partial

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
MOST_SAMPLES = 6  # of one op and type; the last has the oddest arguments, so both ends are taken
TYPES = (torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.bool)


def parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    if tensor.is_nested:
        return [tensor.values()] if tensor.layout == torch.jagged else []
    return [tensor] if tensor.layout == torch.strided and tensor.device.type == "cpu" else []


def memory_of(tensor: torch.Tensor) -> list[bytes]:
    """All bytes of its storages, whatever its strides and bits say."""
    found = []
    for part in parts(tensor.detach()):
        storage = part.untyped_storage()
        if storage.nbytes():
            found.append(bytes(torch.tensor([], dtype=torch.uint8).set_(storage).numpy()))
    return found


def named_tensors(schema, args: tuple, kwargs: dict) -> list[tuple[str, bool, torch.Tensor]]:
    """(name, written by the schema's own account, tensor)"""
    names = [argument.name for argument in schema.arguments]
    given = dict(zip(names[: len(args)], args, strict=True)) | kwargs
    found = []
    for argument in schema.arguments:
        written = argument.alias_info is not None and argument.alias_info.is_write
        for value in tree_flatten(given.get(argument.name))[0]:
            if isinstance(value, torch.Tensor):
                found.append((argument.name, written, value))
    return found


class Comparing(TorchDispatchMode):
    """Notes every argument that an op changed though its schema does not say so."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: set[str] = set()
        self.hidden: dict[str, str] = {}  # and where it was seen first
        self.where = ""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = named_tensors(func._schema, args, kwargs)
        declared = {
            part.untyped_storage()._cdata
            for _, written, tensor in given
            if written
            for part in parts(tensor)
        }
        compared = [
            (name, tensor, memory_of(tensor))
            for name, written, tensor in given
            if not written
            and not any(part.untyped_storage()._cdata in declared for part in parts(tensor))
        ]
        result = func(*args, **kwargs)
        self.ran.add(func.name())
        for name, tensor, before in compared:
            if memory_of(tensor) != before:
                self.hidden.setdefault(f"{func._schema.name} {name}", self.where)
        return result


def run(call, leaves: object) -> None:
    """Forward and, where there is one, backward; what a sample raises says nothing here."""
    try:
        flat = tree_flatten(call())[0]
        outputs = [x for x in flat if isinstance(x, torch.Tensor) and x.requires_grad]
        inputs = [
            x for x in tree_flatten(leaves)[0] if isinstance(x, torch.Tensor) and x.requires_grad
        ]
        if outputs and inputs:
            ones = [torch.ones_like(x) for x in outputs]
            torch.autograd.grad(outputs, inputs, ones, allow_unused=True)
    except Exception:
        pass


def some_of(samples: list) -> list:
    half = MOST_SAMPLES // 2
    return samples if len(samples) <= MOST_SAMPLES else samples[:half] + samples[-half:]


def run_op(op, dtype: torch.dtype, comparing: Comparing) -> None:
    backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    try:
        samples = some_of(list(op.sample_inputs("cpu", dtype, requires_grad=backward)))
    except Exception:
        return
    for sample in samples:
        given = tree_map(
            lambda x: (
                x.detach().clone().requires_grad_(x.requires_grad)
                if isinstance(x, torch.Tensor)
                else x
            ),
            (sample.input, sample.args, sample.kwargs),
        )
        with comparing:
            run(partial(op, given[0], *given[1], **given[2]), given)
            in_place = op.get_inplace()
            if in_place is not None and isinstance(given[0], torch.Tensor):
                run(partial(in_place, given[0].detach().clone(), *given[1], **given[2]), ())


def run_module(info, comparing: Comparing) -> None:
    for training in (True, False):
        try:
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
            )
        except Exception:
            continue
        for sample in some_of(list(inputs)):
            made, given = sample.constructor_input, sample.forward_input
            try:
                module = info.module_cls(*made.args, **made.kwargs).train(training)
            except Exception:
                continue
            if given is not None:
                leaves = (list(module.parameters()), given.args, given.kwargs)
                with comparing:
                    run(partial(module, *given.args, **given.kwargs), leaves)


def run_optimizer(info, comparing: Comparing) -> None:
    for sample in info.optim_inputs_func(device="cpu"):
        for implementation in ({}, {"foreach": True}, {"fused": True}):
            weight = torch.rand(3, 4, requires_grad=True)
            try:
                optimizer = info.optim_cls([weight], **sample.kwargs | implementation)
            except Exception:
                continue
            with comparing:
                for _ in range(2):
                    run(partial(optimizer.step, partial(backward_of, weight)), ())


def backward_of(weight: torch.Tensor) -> torch.Tensor:
    loss = weight.square().sum()
    loss.backward()
    return loss


def left_out() -> list:
    """Kernels with a state that neither database calls."""
    aten, one = torch.ops.aten, torch.ones
    observer = torch.ao.quantization.FusedMovingAvgObsFakeQuantize()
    image = torch.rand(2, 3, 5, 5)
    statistics = (torch.zeros(3), one(3))
    scale, tracker, found = torch.tensor(2.0), torch.tensor(3, dtype=torch.int32), one(1)
    return [
        lambda: observer(torch.rand(4, 4)),
        lambda: aten.batch_norm_update_stats(image, *statistics, 0.1),
        lambda: aten._native_batch_norm_legit(image, None, None, *statistics, True, 0.1, 1e-5),
        lambda: aten._batch_norm_with_update(image, None, None, *statistics, 0.1, 1e-5),
        lambda: aten._batch_norm_no_update(image, None, None, *statistics, 0.1, 1e-5),
        lambda: aten._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2000),
        lambda: aten._amp_foreach_non_finite_check_and_unscale_([image], found, scale),
        lambda: torch.nn.functional.embedding(torch.arange(3), torch.rand(3, 4), max_norm=0.1),
        lambda: aten._weight_norm_interface(torch.rand(3, 4), torch.rand(3, 1)),
        lambda: aten.rrelu_with_noise(image, torch.rand_like(image), 0.1, 0.3, True),
        lambda: torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True)(torch.rand(2, 1, 3)),
        lambda: torch.nn.GRU(3, 4)(torch.rand(2, 1, 3)),
        lambda: torch.nn.TransformerEncoderLayer(4, 2, 8).eval()(torch.rand(2, 1, 4)),
        lambda: torch.nn.utils.spectral_norm(torch.nn.Linear(3, 4))(torch.rand(2, 3)),
    ]


def main(part: int, parts: int) -> None:
    comparing = Comparing()
    for number, op in enumerate(op_db):
        for dtype in TYPES:
            if number % parts == part and dtype in op.supported_dtypes("cpu"):
                torch.manual_seed(1)
                random.seed(1)
                comparing.where = f"{op.name} {dtype}"
                run_op(op, dtype, comparing)
    for number, info in enumerate(module_db):
        if number % parts == part:
            torch.manual_seed(1)
            comparing.where = info.name
            run_module(info, comparing)
    for number, info in enumerate(optim_db):
        if number % parts == part:
            comparing.where = info.optim_cls.__name__
            run_optimizer(info, comparing)
    comparing.where = "what is left out"
    for call in left_out()[part::parts]:
        with comparing:
            run(call, ())
    print(json.dumps({"ran": sorted(comparing.ran), "hidden": comparing.hidden}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
