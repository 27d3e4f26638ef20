"""A region compiled once more, by inductor, with one setting changed: the experiment that shows
under which setting it gives what eager gives.
"""

from __future__ import annotations

import functools
import sys
from typing import NamedTuple

from nanscope.compiled import random_bits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.compiled.region import RegionCall

MOST_CALLS = 300  # of a graph: to compile a larger one takes minutes


class Setting(NamedTuple):
    """A setting of torch._inductor.config; `value` is the one nearest to eager."""

    name: str
    value: object


SETTINGS = (
    Setting("emulate_precision_casts", True),
    Setting("cpp.enable_unsafe_math_opt_flag", False),
    Setting("cpp.enable_floating_point_contract_flag", "off"),
    Setting("pattern_matcher", False),
)


def settings_now(options: dict[str, object] | None) -> dict[str, object]:
    """As a region is compiled: those that matter here, and what `torch.compile` was given."""
    config = sys.modules.get("torch._inductor.config")
    if config is None:
        return {}
    found = {}
    for name in (*(setting.name for setting in SETTINGS), "fallback_random"):
        try:
            found[name] = functools.reduce(getattr, name.split("."), config)
        except AttributeError:
            pass  # this version has no such setting
    return {**found, **(options or {})}


class Recompiled:
    """Computes a call's results by a region compiled with this setting."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._compiled = None

    def __call__(self, call: RegionCall, inputs: list[object]) -> tuple:
        import torch._inductor.config as config

        patches = {**call.region.settings, self.setting.name: self.setting.value}
        with config.patch(patches), random_bits.drawn_from(call.region.graph, call.drawn_from):
            if self._compiled is None:
                self._compiled = _compile(call, inputs, patches)
            return tuple(self._compiled(*inputs))


def _compile(call: RegionCall, inputs: list[object], patches: dict[str, object]):
    import torch.fx
    from torch._inductor.compile_fx import compile_fx

    kept, graph = call.region.graph.run, torch.fx.Graph()
    graph.output(graph.graph_copy(kept.graph, {}))  # the compiler may change it
    return compile_fx(torch.fx.GraphModule(kept, graph), inputs, config_patches=patches)


def worth_trying(call: RegionCall, is_half: bool) -> list[Setting]:
    """Those that differ from what the region was compiled with."""
    if not call.region.settings or call.region.graph.size > MOST_CALLS:
        return []
    known = call.region.settings
    return [
        setting
        for setting in SETTINGS
        if setting.name in known
        and known[setting.name] != setting.value
        and (is_half or setting.name != "emulate_precision_casts")
    ]
