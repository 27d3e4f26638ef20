"""Parameters that DistributedDataParallel keeps equal on all ranks: are they?

Every rank starts with the same ones and adds the same gradients, so that equal bits go on to be
equal. Where they are not, a machine computes or remembers wrongly, or the program changed them on
one rank. They are compared once, when an error was found, by sums of their bytes that each rank
takes at the same moment: before the optimizer's step that the bad gradients were meant for.
"""

from __future__ import annotations

import sys

from nanscope.findings import Report
from nanscope.ranks.buckets import buckets, replicated_models

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from nanscope import _core

    class Replicas(TypedDict):
        """What one rank has: optimizer steps done, and the sum of each parameter by its name."""

        steps: int
        sums: dict[str, int]


MOST_BYTES = 8 << 30  # read at the end of a run, at about a gigabyte a second


class Steps:
    """How many steps the optimizers of this process have done."""

    def __init__(self) -> None:
        self.counts = False
        self.begun = 0
        self.done = 0

    def count(self) -> None:
        """From now on, behind the hooks that judge: of a step that they stop, none begins."""
        from torch.optim import optimizer

        if self.counts:
            return
        self.counts = True

        optimizer.register_optimizer_step_pre_hook(self._begins)
        optimizer.register_optimizer_step_post_hook(self._ended)

    def _begins(self, *_: object) -> None:
        self.begun += 1

    def _ended(self, *_: object) -> None:
        self.done += 1
        buckets.step_done(self.done)


steps = Steps()


def of_this_rank(capture: _core.Capture) -> Replicas | None:
    """None if this rank did not end before a step, or has no such model."""
    if steps.begun != steps.done or not _stopped_before_a_step(capture):
        return None
    try:
        sums = {name: total for model in replicated_models() for name, total in _sums(model)}
    except Exception:
        return None
    return {"steps": steps.done, "sums": sums} if sums else None


def _stopped_before_a_step(capture: _core.Capture) -> bool:
    harms = [one.harm for one in Report.of(capture).of_level("error") if one.harm is not None]
    return bool(harms) and harms[0].kind == "gradient"


def _sums(model: object) -> list[tuple[str, int]]:
    torch = sys.modules["torch"]
    left = MOST_BYTES
    found = []
    for name, parameter in model.module.named_parameters():
        value = parameter.detach()
        plain = type(value) is torch.Tensor and value.layout is torch.strided
        if not plain or value.device.type != "cpu" or name in model.parameters_to_ignore:
            continue
        left -= value.numel() * value.element_size()
        if left >= 0:
            found.append((name, _sum(value)))
    return found


def _sum(value) -> int:
    import ctypes
    import zlib

    if not value.is_contiguous():
        value = value.contiguous()
    size = value.numel() * value.element_size()
    return zlib.crc32((ctypes.c_char * size).from_address(value.data_ptr())) if size else 0


def differences(of_ranks: dict[int, Replicas | None]) -> dict[int, str]:
    """A sentence, without its subject, for each rank whose parameters are not those of the others.

    Only ranks that did equally many steps are compared; most of them are taken to be right.
    """
    known = {rank: one for rank, one in of_ranks.items() if one is not None}
    said: dict[int, str] = {}
    for rank, own in known.items():
        peers = {
            other: one
            for other, one in known.items()
            if other != rank and _are_comparable(one, own)
        }
        differs = [name for name in own["sums"] if _is_odd_one(name, own, list(peers.values()))]
        if differs:
            said[rank] = _sentence(differs, peers, own)
    return said


def _are_comparable(one: Replicas, other: Replicas) -> bool:
    return one["steps"] == other["steps"] and one["sums"].keys() == other["sums"].keys()


def _is_odd_one(name: str, own: Replicas, peers: list[Replicas]) -> bool:
    """No more than half of all have what this one has."""
    same = sum(one["sums"][name] == own["sums"][name] for one in peers)
    return len(peers) > same and 2 * (same + 1) <= len(peers) + 1


def _sentence(names: list[str], peers: dict[int, Replicas], own: Replicas) -> str:
    name = names[0]
    others = [rank for rank, one in sorted(peers.items()) if one["sums"][name] != own["sums"][name]]
    ranks = f"rank {others[0]}" if len(others) == 1 else "ranks " + ", ".join(map(str, others))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"its `{name}`{more} had not the bits that {ranks} had before this step, which DDP keeps "
        "equal: memory or a processor of one of these machines may be faulty, or the program "
        "changed it on one rank"
    )
