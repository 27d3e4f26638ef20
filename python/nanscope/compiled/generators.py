"""The program's generators of random numbers, as they are now. A replay leaves them as they were.

Only those are touched that the graph may draw from: another thread may draw meanwhile, and would be
given its numbers a second time. Torch's for ops of torch; Python's and NumPy's, too, for others.
"""

from __future__ import annotations

import random
import sys
from contextlib import contextmanager

import torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanscope.compiled.graphs import KeptGraph


class Generators:
    def __init__(self, of_others: bool) -> None:
        self._of_torch = torch.get_rng_state()
        self._of_devices = {device: device.get_rng_state_all() for device in _devices_in_use()}
        self._of_python = random.getstate() if of_others else None
        numpy = sys.modules.get("numpy.random") if of_others else None
        self._of_numpy = numpy.get_state() if numpy is not None else None

    def put_back(self) -> None:
        torch.set_rng_state(self._of_torch)
        for device, states in self._of_devices.items():
            device.set_rng_state_all(states)
        if self._of_python is not None:
            random.setstate(self._of_python)
        if self._of_numpy is not None:
            sys.modules["numpy.random"].set_state(self._of_numpy)

    def others_moved(self) -> bool:
        """Any but that of torch on the CPU."""
        now = Generators(self._of_python is not None)
        if now._of_python != self._of_python or now._of_devices.keys() != self._of_devices.keys():
            return True
        for device, states in self._of_devices.items():
            if not all(map(torch.equal, states, now._of_devices[device])):
                return True
        return _numbers_of(now._of_numpy) != _numbers_of(self._of_numpy)


def _devices_in_use() -> list:
    kinds = (getattr(torch, name, None) for name in ("cuda", "xpu"))
    return [kind for kind in kinds if kind is not None and kind.is_initialized()]


def _numbers_of(state: tuple | None) -> tuple | None:
    return state and (state[0], state[1].tolist(), *state[2:])


@contextmanager
def left_alone(graph: KeptGraph) -> Iterator[Generators | None]:
    if not graph.draws:
        yield None
        return
    now = Generators(of_others=not graph.may_be_repeated)
    try:
        yield now
    finally:
        now.put_back()
