"""One compiled region, in the place of what the compiler made of it."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from nanscope.compiled import backward_again, differences, random_bits, ways
from nanscope.compiled.reasons import (
    FAULT,
    LET_GO,
    MADE_BY,
    NOT_AGAIN,
    NOT_MATCHED,
    ONLY_COMPILED,
    OTHER_NUMBERS,
    SAVED,
    WRITTEN,
    CannotReplay,
)
from nanscope.errors import NonFiniteError
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from nanscope.compiled.differences import Way
    from nanscope.compiled.graphs import KeptGraph

MOST_LESSONS = (
    8  # replays of a region that gives nothing bad, to learn what it does with bad inputs
)
MOST_LINES = 8


class Region:
    """Called as the compiled function is, and gives what that gives."""

    def __init__(
        self,
        adapter: ModuleType,
        compiled: Callable,
        graph: KeptGraph,
        writes: Sequence[bool] | None,
        count: Callable[[str], None],
        waiting: backward_again.Waiting,
    ) -> None:
        self.adapter = adapter
        self.compiled = compiled
        self.graph = graph
        self.writes = writes  # of each input, whether it is written; None: not known
        self.written: set[int] = set()  # inputs that were, by number
        self.count = count  # told why a result was not looked at
        self.waiting = waiting
        self.seeded = False  # inductor draws its random numbers
        self.settings: dict[str, object] = {}  # of inductor, as it compiled this; empty: by another
        self.in_backward = False  # compiled autograd made it
        self.found: dict[tuple, differences.Found] = {}  # where eager gives something else
        self.lessons = 0

    def __call__(self, *args):
        if not self.adapter.region_is_watched() or any(map(is_traced, args)):
            return self.compiled(*args)
        call = self.guarded(Call, self, [*self.graph.held, *args])
        try:
            results = self.adapter.quietly(self.compiled, *args)
        except Exception:
            if call is not None:
                self.guarded(call.learn)  # an op may have raised because of what it was given
            raise
        if call is not None:
            self.guarded(call.ended, results)
        return results

    def guarded(self, act: Callable, *given):
        """A fault of ours is no affair of the program; what stops it is."""
        try:
            return act(*given)
        except NonFiniteError:
            raise
        except Exception as error:
            self.count(FAULT.format(error))
            return None

    def __getattr__(self, name: str):
        return getattr(self.compiled, name)

    def written_of(self, inputs: Sequence[object]) -> set[int]:
        """Those that it writes, by number."""
        if self.writes is None:
            return self.written
        if len(self.writes) != len(inputs):
            return set(range(len(inputs)))  # the same tensor twice, and the like: all are kept
        return self.written.union(i for i, writes in enumerate(self.writes) if writes)

    def words(self) -> str:
        lines = self.graph.lines
        if not lines:
            return MADE_BY.format("code that is not the program's own")
        shown = [f"{display_path(file)}:{line}" for file, line in lines[:MOST_LINES]]
        more = len(lines) - len(shown)
        return MADE_BY.format(", ".join(shown) + (f" and {more} more lines" if more else ""))


class Call:
    """One call of a region: what went in, as it was."""

    def __init__(self, region: Region, args: Sequence[object]) -> None:
        self.region = region
        # A list is emptied by the call: what lies in it is an input by itself.
        self.lengths = [len(value) if isinstance(value, list) else None for value in args]
        self.inputs = [one for v in args for one in (v if isinstance(v, list) else [v])]
        self.copies: dict[int, torch.Tensor] = {}  # of inputs that the region writes
        for number in region.written_of(self.inputs):
            if isinstance(self.inputs[number], torch.Tensor):
                self.copies[number] = self.copy(self.inputs[number])
        self.versions = [version_of(value) for value in self.inputs]
        self.drawn_from = torch.get_rng_state() if region.graph.draws else None
        self.drawn_to = None
        self.autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        self.first_node = torch.autograd._get_sequence_nr()  # of autograd, that it may make
        self.edges: list[tuple[int, int]] = []  # (result, which of the node's gradients it gets)

    def copy(self, tensor: torch.Tensor) -> torch.Tensor:
        """With what is known of it."""
        adapter = self.region.adapter
        made = adapter.quietly(copy_of, tensor)
        if adapter.is_any_known_bad([tensor]):
            adapter.carry_over(tensor, made)
        return made

    def ended(self, results: Sequence[object]) -> None:
        region = self.region
        if self.drawn_from is not None:
            self.drawn_to = torch.get_rng_state()
        changed = [i for i, old in enumerate(self.versions) if version_of(self.inputs[i]) != old]
        unforeseen = [i for i in changed if i not in self.copies]
        region.written.update(unforeseen)
        written = sorted({*self.copies, *unforeseen})
        bad = region.adapter.look_at_region([*results, *(self.inputs[i] for i in written)])
        if bad:
            self.tell(results, written, bad)
            region.adapter.stop_for_region()
        elif region.lessons < MOST_LESSONS and region.adapter.is_any_known_bad(self.inputs):
            region.lessons += 1
            self.learn(results)
        backward_again.await_backward(self, results)

    def tell(self, results: Sequence[object], written: list[int], bad: list[int]) -> None:
        """Whence the bad ones are, as far as a replay shows it."""

        def picked(results: Sequence[object], inputs: Sequence[object]) -> list[object]:
            return [results[n] if n < count else inputs[written[n - count]] for n in bad]

        def recompute(way: Way) -> list[object]:
            inputs = self.inputs_again()
            return picked(self.again(inputs, way), inputs)

        count = len(results)
        inputs, again, why = self.inputs_again(), None, ""
        try:
            again = self.again(inputs)
        except CannotReplay as reason:
            why = NOT_AGAIN.format(reason)
        befores = [None if n < count else self._before(written[n - count]) for n in bad]
        self.tell_all(
            [results[n] if n < count else self.inputs[written[n - count]] for n in bad],
            [None] * len(bad) if again is None else picked(again, inputs),
            befores,
            why,
            ("results", *bad),
            recompute,
        )
        self.tell_opposite(results, again or (), bad)

    def _before(self, place: int) -> object:
        return self.copies.get(place, self.inputs[place])

    def tell_all(self, results, replayed, befores, why: str, key: tuple, recompute) -> None:
        """`why`: no replay could be made. Where one is finite and the result is bad, more is asked
        for; `key` says which results they are.
        """
        region, quietly = self.region, self.region.adapter.quietly
        pairs = [*zip(results, replayed, strict=True)]
        alike = [quietly(differences.is_bad_alike, *pair) for pair in pairs]
        others = [
            place
            for place, (_, other) in enumerate(pairs)
            if isinstance(other, torch.Tensor) and not alike[place]
        ]
        found = differences.Found(None, why, None)
        if others:
            found = differences.search(
                self,
                (*key, *others),
                [results[place] for place in others],
                lambda way: [recompute(way)[place] for place in others],
            )
        shown = dict(zip(others, found.shown or (), strict=False))
        for place, (result, other) in enumerate(pairs):
            best = other if alike[place] else shown.get(place)
            if not quietly(differences.is_bad_alike, result, best):
                best = None
            matched = alike[place] or place in others
            words = region.words() + (found.why or (ONLY_COMPILED if matched else NOT_MATCHED))
            known = found.known if place in others else None
            region.adapter.tell_region(result, best, befores[place], words, known)

    def tell_opposite(self, results, replayed, bad: Sequence[int] = ()) -> None:
        """Results that are finite, and that the replay has bad: a note."""
        adapter = self.region.adapter
        for place, (result, other) in enumerate(zip(results, replayed, strict=False)):
            if place not in bad and isinstance(result, torch.Tensor):
                if adapter.quietly(differences.is_bad, other):
                    adapter.tell_only_eager(other)

    def learn(self, results: Sequence[object] = ()) -> None:
        """Shows the judge what the region does: what is tested in it, or replaced, or raises."""
        try:
            self.tell_opposite(results, self.again(self.inputs_again()))
        except CannotReplay:
            pass

    def let_go(self) -> None:
        """Its backward is over: a loss that the program keeps must not keep a whole batch."""
        self.inputs, self.copies, self.versions = [], {}, []

    def inputs_again(self) -> list[object]:
        """For a replay, which writes what the region wrote."""
        inputs = list(self.inputs)
        for number, kept in self.copies.items():
            inputs[number] = self.copy(kept)
        return inputs

    def _name_saved(self, inputs: list[object]) -> None:
        """What a compiled forward saved was nobody's result: it is no data of the program's."""
        adapter = self.region.adapter
        for value in inputs:
            if adapter.quietly(differences.is_bad, value) and not adapter.is_any_known_bad([value]):
                adapter.tell_region(value, None, None, SAVED, None)

    def as_given(self, inputs: list[object]) -> list[object]:
        """With lists where the region takes lists."""
        rest = iter(inputs)
        return [
            next(rest) if length is None else [next(rest) for _ in range(length)]
            for length in self.lengths
        ]

    def again(self, inputs: list[object], way: Way = ways.eagerly) -> tuple:
        """The results, computed once more."""
        region = self.region
        if region.graph.obstacle:
            raise CannotReplay(region.graph.obstacle)
        if not self.inputs and region.graph.inputs:
            raise CannotReplay(LET_GO)
        for number, (value, version) in enumerate(zip(self.inputs, self.versions, strict=True)):
            if number not in self.copies and version_of(value) != version:
                raise CannotReplay(WRITTEN)
        if region.in_backward and way is ways.eagerly:
            self._name_saved(inputs)
        try:
            return way(self, self.as_given(inputs))
        except (NonFiniteError, CannotReplay):
            raise  # an op of the replay stops the program
        except random_bits.OtherNumbers:
            raise CannotReplay(OTHER_NUMBERS) from None
        except Exception as error:
            raise CannotReplay.of(error) from None


def is_traced(value: object) -> bool:
    """Another compiler is at work: nothing is computed."""
    return isinstance(value, (FakeTensor, FunctionalTensor))


def version_of(value: object) -> object:
    """Another one once the value was written."""
    if not isinstance(value, torch.Tensor) or value.is_inference():
        return None
    return value._version


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in the same layout."""
    with torch.no_grad():
        if tensor.layout is not torch.strided:
            return tensor.detach().clone()
        made = torch.empty_strided(
            tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device
        )
        return made.copy_(tensor)
