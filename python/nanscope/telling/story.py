"""Answers the adapter's question about a stack: which source, which module, which names."""

from __future__ import annotations

import os
import sys

from nanscope.telling import source
from nanscope.telling.stack import display_path, is_user_code, split_stack, visible

FIELDS = ("file", "line", "end_line", "col", "end_col", "code", "function", "remark")
LISTS = ("source", "before", "after")
MOST_FRAMES = 32
NOWHERE = dict.fromkeys(FIELDS, "") | dict.fromkeys(FIELDS[1:5], 0)

NOTHING = dict.fromkeys(("library_site", "module", "rank", "worker"))


class Storyteller:
    """Reads source for findings; asked only when something was found."""

    def __init__(self, main_file: str | None, storage_numbers) -> None:
        self.main_file = main_file
        self.storage_numbers = storage_numbers
        self.sites: dict[tuple[int, int], source.Site] = {}

    def describe(self, frames, op, node, arguments) -> dict:
        """Tells the site and names for these frames, innermost first.

        Each is (code, offset, address of `self` in a forward).

        Raises only what is the program's own: Ctrl-C, or what its signal handler raised just now.
        """
        try:
            return self._describe(frames, op, node, arguments)
        except Exception as error:
            if self._is_the_programs(error):
                raise
            remark = f"the source could not be read: {error!r}"
            site = self.fields_of(None) | {"remark": remark}
            return NOTHING | {"site": site, "stack": [], "names": [None] * len(arguments)}

    def _is_the_programs(self, error: Exception) -> bool:
        step = error.__traceback__
        while step is not None:
            if is_user_code(step.tb_frame.f_code.co_filename, self.main_file):
                return True
            step = step.tb_next
        return False

    def _describe(self, frames, op, node, arguments) -> dict:
        pairs = [(code, offset) for code, offset, _ in frames]
        own, library = split_stack(pairs, self.main_file)
        site = self._locate(*pairs[own]) if own is not None else None
        library_site = self._locate(*pairs[library]) if library is not None else None
        own_index = own if own is not None else 0
        inner = [code for code, _ in reversed(pairs[:own_index])]
        return {
            "site": self.fields_of(site),
            "library_site": self.fields_of(library_site) if library_site else None,
            "stack": self.stack_of(pairs),
            "module": self._module(frames),
            "rank": _rank(),
            "worker": _worker(),
            "names": self._names(site, inner, op, node, arguments),
        }

    def stack_of(self, pairs) -> list[tuple[str, int, str, bool]]:
        return [self._frame(*pairs[i]) for i in visible(pairs)[:MOST_FRAMES]]

    def _locate(self, code, offset) -> source.Site:
        key = (id(code), offset)
        if key not in self.sites:
            self.sites[key] = source.locate(code, offset)
        return self.sites[key]

    @staticmethod
    def fields_of(site) -> dict:
        if site is None:
            return NOWHERE | {name: [] for name in LISTS}
        return {name: getattr(site, name) for name in FIELDS + LISTS}

    def _frame(self, code, offset) -> tuple[str, int, str, bool]:
        line = next(
            (start for first, last, start in code.co_lines() if first <= offset < last and start),
            code.co_firstlineno,
        )
        own = is_user_code(code.co_filename, self.main_file)
        return display_path(code.co_filename), line, code.co_name, own

    def _module(self, frames) -> str | None:
        addresses = [
            address
            for code, _, address in reversed(frames)
            if address and not code.co_filename.startswith("<eval_with_key>")  # a graph
        ]
        if not addresses:
            return None
        from nanscope.telling import modules

        return modules.path_by_address(addresses, vars(sys.modules["__main__"]))

    def _names(self, site, inner, op, node, arguments) -> list[str | None]:
        if site is None or not site.expression:
            return [None] * len(arguments)
        from nanscope.telling import names

        values = vars(sys.modules["__main__"]) if site.function == "<module>" else None
        return names.of_inputs(site.expression, op, node, arguments, inner=inner, values=values)

    def name_of_storage(self, number: int) -> str | None:
        """`net.head.weight`: the parameter, buffer or bare leaf that lives in this storage."""
        try:
            return self._name_of_storage(number)
        except Exception as error:
            if self._is_the_programs(error):
                raise
            return None

    def _name_of_storage(self, number: int) -> str | None:
        torch = sys.modules["torch"]
        from nanscope.telling import modules, shards

        spaces = [vars(sys.modules["__main__"]), *modules.live_namespaces()]
        named = modules.parameter_names(*spaces)
        for value in self._tensors(torch):
            if id(value) in named and number in self.storage_numbers(value):
                return shards.name_of_shard(value, named[id(value)])
        return None

    @staticmethod
    def _tensors(torch):
        import gc

        return [value for value in gc.get_objects() if issubclass(type(value), torch.Tensor)]


def _rank() -> int | None:
    """The number of this process among those that train together."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    text = os.environ.get("RANK", "")  # torchrun's, before the processes have met
    return int(text) if text.isdigit() else None


def _worker() -> int | None:
    """The number of this worker of a DataLoader; nothing in another process."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    return info.id if info is not None else None
