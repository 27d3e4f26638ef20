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
from nanscope.compiled.unwritten import Unwritten
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
        # How it is told, if it is bad: with no numbers that the program did not have.
        self.way = Unwritten(adapter, 0.0) if graph.allocates else ways.eagerly
        self.zeros = 0  # lessons because of a result that is nothing but zeros
        self.memory = adapter.RegionMemory()
        self._numbers: tuple[object, tuple[int, ...]] = (None, ())  # see written_of

    def __call__(self, *args):
        if not self.adapter.region_is_watched() or self.is_traced(args):
            return self.compiled(*args)
        call = self.guarded(RegionCall, self, [*self.graph.held, *args])
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

    def is_traced(self, args: Sequence[object]) -> bool:
        """Another compiler is at work: nothing is computed."""
        return self.adapter.any_subclass(args) and any(map(is_of_a_tracer, args))

    def written_of(self, inputs: Sequence[object]) -> tuple[int, ...]:
        """Those that it writes, by number and in order."""
        asked = len(inputs), len(self.written)
        if self._numbers[0] != asked:
            self._numbers = asked, tuple(sorted(self._written_of(inputs)))
        return self._numbers[1]

    def _written_of(self, inputs: Sequence[object]) -> set[int]:
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


class RegionCall:
    """One call of a region: what went in, as it was."""

    def __init__(self, region: Region, args: Sequence[object]) -> None:
        self.region = region
        self.lengths = None  # of lists among them, for each
        self.inputs = args
        if list in map(type, args):
            # A list is emptied by the call: what lies in it is an input by itself.
            self.lengths = [len(value) if isinstance(value, list) else None for value in args]
            self.inputs = [one for v in args for one in (v if isinstance(v, list) else [v])]
        self._keep_what_is_written()
        self.drawn_from = torch.get_rng_state() if region.graph.draws else None
        self.drawn_to = None
        self.autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        self.first_node = torch.autograd._get_sequence_nr()  # of autograd, that it may make
        self.returned = False  # without raising
        self.edges: list[tuple[int, int]] = []  # (result, which of the node's gradients it gets)

    def _keep_what_is_written(self) -> None:
        region = self.region
        written = region.written_of(self.inputs)
        # What is known to be bad in them must be known of a copy from the start.
        bad = region.adapter.is_any_known_bad(self.inputs)
        self.kept = region.adapter.keep_inputs(self.inputs, () if bad else written, region.memory)
        self._copies: dict[int, torch.Tensor] = {}
        for number in written if bad else self.kept.others:
            if isinstance(self.inputs[number], torch.Tensor):
                self._copies[number] = self.copy(self.inputs[number])

    @property
    def copies(self) -> dict[int, torch.Tensor]:
        """Copies the inputs that the region writes, by number, when a replay asks for them."""
        for number in self.kept.numbers if self.kept is not None else ():
            if number not in self._copies:
                self._copies[number] = self.kept.copy(number)
        return self._copies

    def copy(self, tensor: torch.Tensor) -> torch.Tensor:
        """With what is known of it."""
        adapter = self.region.adapter
        made = adapter.quietly(copy_of, tensor)
        if adapter.is_any_known_bad([tensor]):
            adapter.carry_over(tensor, made)
        return made

    def ended(self, results: Sequence[object]) -> None:
        region, self.returned = self.region, True
        if self.drawn_from is not None:
            self.drawn_to = torch.get_rng_state()
        unforeseen = self._unforeseen()
        region.written.update(unforeseen)
        written = sorted({*self.kept.numbers, *self._copies, *unforeseen})
        adapter = region.adapter
        bad, zero = adapter.look_at_region([*results, *(self.inputs[i] for i in written)])
        if bad:
            with ways.without_dynamo():
                self.tell(results, written, bad)
            adapter.stop_for_region()
        elif region.lessons < MOST_LESSONS and adapter.is_any_known_bad(self.inputs):
            region.lessons += 1
            self.learn(results)
        elif region.zeros < MOST_LESSONS and any(
            number < len(results) and region.graph.may_divide_away(number) for number in zero
        ):
            region.zeros += 1
            self.learn(results)
        backward_again.await_backward(self, results)

    def _unforeseen(self) -> list[int]:
        """Inputs that were written, and were not known to be."""
        if self.kept is None:
            return []
        return [i for i in self.kept.unforeseen(self.inputs) if i not in self._copies]

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
        self.tell_finite(results, again or (), bad)

    def _before(self, place: int) -> object:
        return self.copies.get(place, self.inputs[place])

    def tell_all(self, results, replayed, befores, why: str, key: tuple, recompute) -> None:
        """`why`: no replay could be made. Where one is finite and the result is bad, more is asked
        for; `key` says which results they are.
        """
        region, quietly = self.region, self.region.adapter.quietly
        pairs = [*zip(results, replayed, strict=True)]
        alike = [quietly(differences.explains, *pair) for pair in pairs]
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
            was_nan = best is not None and quietly(differences.is_nan_where_bad, result, best)
            matched = alike[place] or place in others
            words = region.words() + (found.why or (ONLY_COMPILED if matched else NOT_MATCHED))
            region.adapter.tell_region(
                result=result,
                replayed=best,
                inf_was_nan=was_nan,
                before=befores[place],
                why=words,
                only=found.known if place in others else None,
            )

    def tell_finite(self, results, replayed, bad: Sequence[int] = ()) -> None:
        """Results that are finite: a note where the replay has them bad; and where they became
        zero because something was divided by an Inf, that goes with them.
        """
        adapter = self.region.adapter
        for place, (result, other) in enumerate(zip(results, replayed, strict=False)):
            if place in bad or not isinstance(result, torch.Tensor):
                continue
            if adapter.quietly(differences.is_bad, other):
                adapter.tell_only_eager(other)
            elif adapter.quietly(differences.is_near, result, other):
                adapter.carry_losses(other, result)

    def learn(self, results: Sequence[object] = ()) -> None:
        """Shows the judge what the region does: what is tested in it, or replaced, or raises."""
        if not self.region.graph.may_be_repeated:
            return
        try:
            with ways.without_dynamo():
                self.tell_finite(results, self.again(self.inputs_again()))
        except CannotReplay:
            pass

    def let_go(self) -> None:
        """Its backward is over: a loss that the program keeps must not keep a whole batch."""
        self.inputs, self._copies, self.kept = [], {}, None

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
                adapter.tell_region(
                    result=value,
                    replayed=None,
                    inf_was_nan=False,
                    before=None,
                    why=SAVED,
                    only=None,
                )

    def as_given(self, inputs: list[object]) -> list[object]:
        """With lists where the region takes lists."""
        if self.lengths is None:
            return list(inputs)
        rest = iter(inputs)
        return [
            next(rest) if length is None else [next(rest) for _ in range(length)]
            for length in self.lengths
        ]

    def again(self, inputs: list[object], way: Way | None = None) -> tuple:
        """The results, computed once more: as they are told, or in another way."""
        region = self.region
        if region.graph.obstacle:
            raise CannotReplay(region.graph.obstacle)
        if not self.inputs and region.graph.inputs:
            raise CannotReplay(LET_GO)
        if self._unforeseen():
            raise CannotReplay(WRITTEN)
        if region.in_backward and way is None:
            self._name_saved(inputs)
        way = way or region.way
        try:
            if not self.returned:
                return way(self, self.as_given(inputs))
            return region.adapter.repeat_region(way, self, self.as_given(inputs))
        except (NonFiniteError, CannotReplay):
            raise  # an op of the replay stops the program
        except random_bits.OtherNumbers:
            raise CannotReplay(OTHER_NUMBERS) from None
        except Exception as error:
            raise CannotReplay.of(error) from None


def is_of_a_tracer(value: object) -> bool:
    return isinstance(value, (FakeTensor, FunctionalTensor))


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in the same layout."""
    with torch.no_grad():
        if tensor.layout is not torch.strided:
            return tensor.detach().clone()
        made = torch.empty_strided(
            tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device
        )
        return made.copy_(tensor)
