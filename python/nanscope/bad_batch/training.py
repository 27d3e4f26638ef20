"""What a training consists of, told by hooks: its models, optimizers, schedulers, loss scalers and
loaders, in the order in which they were made. A program that is started again makes them in the
same order, so that a number names the same thing in both.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from contextlib import suppress
from itertools import count
from typing import Any

from nanscope.outside.loaders import Batch
from nanscope.outside.stand_ins import noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import torch


class Numbered:
    """Objects by the order in which they were first seen; none is kept alive."""

    def __init__(self) -> None:
        self.numbers: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.next = count()

    def number(self, thing: object) -> int:
        found = self.numbers.get(thing)
        if found is None:
            found = self.numbers[thing] = next(self.next)
        return found

    def all(self) -> list:
        return sorted(list(self.numbers), key=self.numbers.__getitem__)


class Training:
    """`batch_given(loader number, batch)` is called where a loader hands out a batch, and gives the
    one to use; `fetch_begins` before it looks for one; `step_ended` behind every step of an
    optimizer.
    """

    def __init__(
        self,
        batch_given: Callable[[int, object], object],
        step_ended: Callable[[], object],
        fetch_begins: Callable[[], object] = lambda: None,
    ) -> None:
        self.batch_given = batch_given
        self.fetch_begins = fetch_begins
        self.step_ended = step_ended
        self.modules = Numbered()
        self.parents: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.optimizers_seen = Numbered()
        self.schedulers_seen = Numbered()
        self.scalers_seen = Numbered()
        self.loaders = Numbered()
        self.loader_of: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # of iterators
        self.fetching = threading.local()
        self.taken: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.samples: Batch | None = None  # of the batch that is being handed out

    def connect(self, torch: ModuleType) -> None:
        from torch.nn.modules import module as modules
        from torch.optim import optimizer as optim
        from torch.utils.data.dataloader import _BaseDataLoaderIter as Iterator

        modules.register_module_parameter_registration_hook(self._parameter)
        modules.register_module_buffer_registration_hook(self._parameter)
        modules.register_module_module_registration_hook(self._child)
        kind = torch.optim.Optimizer
        kind.__init__ = noted(kind.__init__, before=self._optimizer)
        _number_new(torch.optim.lr_scheduler.LRScheduler, self.schedulers_seen)
        _number_new(torch.amp.GradScaler, self.scalers_seen)
        optim.register_optimizer_step_post_hook(lambda *_: self.step_ended())
        Iterator.__init__ = noted(Iterator.__init__, before=self._iterator)
        for name, before, after in (
            ("_reset", self._begins_anew, None),
            ("_next_index", self._takes_keys, self._keys_taken),
            ("__next__", self._fetches, self._fetched),
        ):
            setattr(Iterator, name, noted(getattr(Iterator, name), before=before, after=after))

    # -------------------------------------------------------------------------- what is seen
    def _parameter(self, module: torch.nn.Module, *_: object) -> None:
        self.modules.number(module)

    def _child(self, module: torch.nn.Module, name: str, child: object) -> None:
        if child is not None:
            self.modules.number(module)
            self.parents[child] = weakref.ref(module)

    def _optimizer(self, optimizer: object, *_: object) -> None:
        self.optimizers_seen.number(optimizer)

    def _iterator(self, iterator: object, *loader: object) -> None:
        if loader:
            self.loader_of[iterator] = self.loaders.number(loader[0])

    def _begins_anew(self, iterator: object, *_: object) -> None:
        """Workers that live on begin another epoch: what they had fetched ahead is thrown away."""
        self.taken.setdefault(iterator, deque()).clear()

    def _takes_keys(self, iterator: Any) -> None:
        """Those of a batch to be fetched, here or by a worker; batches come in the same order."""
        ordered = getattr(iterator, "_in_order", True) and hasattr(iterator._dataset, "__getitem__")
        self.fetching.dataset = iterator._dataset if ordered else None
        self.fetching.taken = self.taken.setdefault(iterator, deque())

    def _keys_taken(self, keys: object) -> object:
        each = keys if isinstance(keys, list) else [keys]
        known = self.fetching.dataset is not None and all(key is not None for key in each)
        self.fetching.taken.append(Batch(self.fetching.dataset, each) if known else None)
        self.fetching.dataset = None
        return keys

    def _fetches(self, iterator: object) -> None:
        self.fetching.loader = self.loader_of.get(iterator, 0)
        self.fetching.ahead = self.taken.setdefault(iterator, deque())
        self.fetch_begins()

    def _fetched(self, batch: object) -> object:
        ahead, self.fetching.ahead = self.fetching.ahead, None  # a loader may be in another's data
        self.samples = ahead.popleft() if ahead else None
        return self.batch_given(self.fetching.loader, batch)

    # ------------------------------------------------------------------------- what there is
    def models(self) -> list[torch.nn.Module]:
        """Modules that are part of no other, in their order."""
        return [module for module in self.modules.all() if self._is_root(module)]

    def _is_root(self, module: torch.nn.Module) -> bool:
        parent = self.parents.get(module)
        holder = parent() if parent is not None else None
        if holder is not None and any(child is module for child in holder.children()):
            return False
        return any(True for _ in module.parameters())

    def optimizers(self) -> list[torch.optim.Optimizer]:
        made = self.optimizers_seen.all()
        return [optimizer for optimizer in made if getattr(optimizer, "param_groups", None)]

    def schedulers(self) -> list[torch.optim.lr_scheduler.LRScheduler]:
        return [one for one in self.schedulers_seen.all() if getattr(one, "optimizer", None)]

    def scalers(self) -> list[torch.amp.GradScaler]:
        return self.scalers_seen.all()

    def loose_parameters(self) -> list[torch.Tensor]:
        """Those that are trained and belong to no model."""
        owned = {id(p) for model in self.models() for p in model.parameters()}
        found = []
        for optimizer in self.optimizers():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if id(parameter) not in owned:
                        owned.add(id(parameter))
                        found.append(parameter)
        return found


def _number_new(kind: type, seen: Numbered) -> None:
    """Objects of the class and of those derived from it: not all of them call its `__init__`."""

    def new(cls: type, *args: object, **more: object) -> object:
        before = super(kind, cls).__new__
        made = before(cls) if before is object.__new__ else before(cls, *args, **more)
        with suppress(Exception):  # one that cannot be hashed yet is not kept, and nothing else
            seen.number(made)
        return made

    kind.__new__ = staticmethod(new)
