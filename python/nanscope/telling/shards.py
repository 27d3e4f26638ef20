"""Parameters of which this rank holds a part: what it is called, `0.weight[4:8]`.

Slices are those of the whole parameter, as torch would take them there.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

MOST_NAMED = 3
WRAPPER = "_fsdp_wrapped_module."  # FullyShardedDataParallel puts it into every path


def name_of_shard(tensor: object, path: str) -> str:
    """The path of the whole parameter, and which part of it this tensor is."""
    path = path.replace(WRAPPER, "")
    try:
        slices = _of_dtensor(tensor)
        if slices:
            return path + slices
        return _of_flat_parameter(tensor, path) or path
    except Exception:  # another version of torch keeps it elsewhere
        return path


def _of_dtensor(tensor: object) -> str:
    module = sys.modules.get("torch.distributed.tensor")
    if module is None or not issubclass(type(tensor), module.DTensor):
        return ""
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset as part

    sizes, offsets = part(tensor.shape, tensor.device_mesh, tensor.placements)
    return _slices(tuple(tensor.shape), tuple(sizes), tuple(offsets))


def _slices(whole: tuple, sizes: tuple, offsets: tuple) -> str:
    """Empty if it is the whole."""
    cut = [
        f"{start}:{start + size}" if size != full else ":"
        for full, size, start in zip(whole, sizes, offsets, strict=True)
    ]
    while cut and cut[-1] == ":":
        cut.pop()
    return f"[{', '.join(cut)}]" if cut else ""


def _of_flat_parameter(tensor: object, path: str) -> str:
    """Names what FullyShardedDataParallel holds: it lays parameters end to end and cuts the row."""
    module = sys.modules.get("torch.distributed.fsdp._flat_param")
    if module is None:
        return ""
    for handle in gc.get_objects():
        if type(handle) is not module.FlatParamHandle:
            continue
        flat = handle.flat_param
        if flat is tensor:
            above = path.rpartition(".")[0]
            return _joined([f"{above}.{name}{part}" for name, part, _ in _parts(flat)])
        for _, part, own in _parts(flat):
            if own is tensor:
                return path + part
    return ""


def _parts(flat) -> Iterator[tuple[str, str, object]]:
    """Name, slice and tensor of each parameter that is in this rank's shard."""
    views = flat._params or [None] * len(flat._fqns)
    for name, info, size, own in zip(
        flat._fqns, flat._shard_param_infos, flat._numels, views, strict=False
    ):
        if not info.in_shard:
            continue
        first, last = info.intra_param_start_idx, info.intra_param_end_idx + 1
        yield name, "" if (first, last) == (0, size) else f".flatten()[{first}:{last}]", own


def _joined(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
