"""In a child: computes the original and the patched expression from the same values.

A patched source calls `__nanscope__.compare(n, original, patched, *values)` where it computes the
patched expression. `values` are what both have in common, computed once, by the program. The
result of `patched` is the program's; that of `original` is only looked at. So it is measured, in
the very place, whether what broke the original is met again and what the patch does to the rest.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

from nanscope.fix.run import arrays, limits, made
from nanscope.fix.run.messages import Place
from nanscope.fix.run.values import copies, gradients, is_wider, second_gradients, wide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

MOST_COMPARISONS = 2000  # of one place in one run
MOST_EXERCISES = 2  # of those that fail, how many are also tried on values that are made
NEARLY = 1e-4  # the largest relative difference of values that count as kept
NEARLY_MADE = 1e-3  # the same of values that were made: some lie at the edge of a domain
WITHOUT_END = 1e300  # stands for an infinite difference
FLOOR = 1e-3  # an element counts as at least this part of the largest, when it is compared


class Aside:
    """Says whether it is we who compute, not the program."""

    now = False


@contextmanager
def unwatched(adapter: ModuleType | None) -> Iterator[None]:
    if adapter is None:
        yield
        return
    was_on = adapter.is_watching()
    adapter.watch(False)
    Aside.now = True
    try:
        yield
    finally:
        Aside.now = False
        adapter.watch(was_on)


class Probe:
    """Measures what patched sources hand to it; the program knows it as `__nanscope__`."""

    def __init__(self, widens: bool, second_order: bool) -> None:
        self.second_order = second_order  # the fault was in backward: look at its slope too
        self.places: dict[int, Place] = {}
        self.widens = widens
        self.adapter: ModuleType | None = None
        self.owner = os.getpid()
        self.answer = ""  # beside it, children of the program leave what they measured

    def place(self, number: int) -> Place:
        return self.places.setdefault(number, Place())

    def ran(self, number: int, value: object) -> object:
        self.place(number).ran += 1
        return value

    def counted(self, number: int, value: object) -> object:
        """Notes whether a value that is taken for a count is one."""
        import torch

        place = self.place(number)
        with self._aside(place):
            seen = value.detach().flatten().tolist() if isinstance(value, torch.Tensor) else [value]
            if isinstance(value, torch.Tensor) and value.requires_grad:  # a trained one
                place.fractional = True
            place.fractional = place.fractional or any(x != int(x) or x < 0 for x in seen)
            place.counted = max([place.counted, *(int(x) for x in seen)])
        return value

    def fired(self, number: int) -> None:
        place = self.place(number)
        place.ran += 1
        place.met += 1

    @staticmethod
    def without_autocast(value: Callable) -> object:
        import torch

        with torch.autocast("cpu", enabled=False):
            return value()

    def compare(
        self, number: int, original: Callable, patched: Callable, value: Callable, *common: object
    ) -> object:
        """Measures both; `value` makes what the program goes on with, mostly by `patched`."""
        place = self.place(number)
        place.ran += 1
        if place.ran > MOST_COMPARISONS:
            return value(*common)
        with self._aside(place):
            self._measure_both(place, original, patched, common)
        self._leave_in_child(number)
        return value(*common)

    def _measure_both(self, place: Place, original: Callable, patched: Callable, common) -> None:
        with arrays.silent():
            before, after = original(*copies(common)), patched(*copies(common))
        if arrays.is_of_numpy(before):
            original, patched = arrays.of_tensors(original), arrays.of_tensors(patched)
            common = [arrays.as_tensor(value) for value in common]
            before, after = arrays.as_tensor(before), arrays.as_tensor(after, like=before.dtype)
        exact = _Exact(original, common)
        met = place.met
        self._measure(place, common, before, after, exact)
        if place.met > met and place.met <= MOST_EXERCISES:
            self._exercise(place, original, patched, common)

    def _leave_in_child(self, number: int) -> None:
        """A worker of a loader ends without a word: what it measured is left at once."""
        pid = os.getpid()
        if pid != self.owner and self.answer:
            left = f"{self.answer}.{number}.{pid}"
            with open(f"{left}.new", "w", encoding="utf-8") as file:
                json.dump(self.place(number).to_json(), file)
            os.replace(f"{left}.new", left)

    def with_children(self) -> dict[int, Place]:
        """All places, together with what children of the program left."""
        folder, name = os.path.split(self.answer)
        for left in os.listdir(folder) if name else ():
            own, _, rest = left.partition(f"{name}.")
            number, _, pid = rest.partition(".")
            if not own and number.isdigit() and pid.isdigit():
                with open(os.path.join(folder, left), encoding="utf-8") as file:
                    self.place(int(number)).add(Place.from_json(json.load(file)))
        return self.places

    @staticmethod
    def _exercise(place: Place, original: Callable, patched: Callable, common) -> None:
        """Tries both on healthy values that are made (made.py)."""
        try:
            off, right, value = limits.departure(original, patched, common)
            if off > place.limit_off:
                place.limit_off = min(off, WITHOUT_END)
                place.limit_right, place.limit_given = right, value
        except Exception:
            pass  # it cannot be computed there
        for given, only_numbers in (
            *((values, True) for values in made.numbers_moved(common)),
            *((values, False) for values in made.neighbours(common)),
        ):
            try:
                count, more, pair = made.excess(original, patched, given)
            except Exception:
                continue  # such values it cannot be given
            place.made += count
            if only_numbers:
                place.numbers_made += count
            if count and more > NEARLY_MADE and (only_numbers or more > place.moved):
                place.moved = min(more, WITHOUT_END)
                place.moved_from, place.moved_to = pair
                place.moved_by_number = place.moved_by_number or only_numbers
                if only_numbers:
                    return

    @contextmanager
    def _aside(self, place: Place) -> Iterator[None]:
        """Hides what is computed inside from the watch, from the program's random numbers and from
        a checkpoint around it, which counts what is saved.
        """
        import torch

        state = torch.get_rng_state()
        plainly = torch.autograd.graph.saved_tensors_hooks(_itself, _itself)
        try:
            with unwatched(self.adapter), plainly:
                yield
        except Exception as error:
            place.fault = f"{type(error).__name__}: {error}"[:200]
        finally:
            torch.set_rng_state(state)

    def _measure(self, place: Place, common, before, after, exact: _Exact) -> None:
        import torch

        if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
            self._measure_parts(place, common, before, after)
            return
        if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
            place.fault = place.fault or "it is not a tensor"
            return
        place.compared += 1
        place.mismatch = place.mismatch or self._mismatch(before, after)
        slopes = gradients(before, common), gradients(after, common)
        bad = ~torch.isfinite(before)
        spoiled = [~torch.isfinite(g) for g in slopes[0] if g is not None]
        if self.second_order and not any(bool(s.any()) for s in spoiled):
            again = second_gradients(before, common)
            spoiled = [~torch.isfinite(g) for g in again if g is not None]
        if bool(bad.any()) or any(bool(s.any()) for s in spoiled):
            place.met += 1
        if before.shape != after.shape:
            return
        if bool((bad & ~torch.isfinite(after)).any()):
            place.still_bad += 1
        exact.at_failing(place, before, after, bad)
        _extents(place, before, after, bad, slopes)
        for where in spoiled:
            if where.dim() <= bad.dim():
                try:
                    bad = bad | where.expand_as(bad)
                except RuntimeError:
                    pass  # of another shape: its elements are not those of the result
        exact.healthy = ~bad
        place.healthy += int((~bad).sum())
        self._difference(place, before.detach()[~bad], after.detach()[~bad], exact)
        for old, new in zip(*slopes, strict=True):
            if old is None or not bool((torch.isfinite(old) & (old != 0)).any()):
                continue
            if new is None or not bool((new != 0).any()):
                place.gradient_lost = True
            else:
                place.gradient_kept = True

    def _measure_parts(self, place: Place, common, before, after) -> None:
        """Measures an op with several results. Where it fails, no part of it counts as healthy."""
        import torch

        pairs = list(zip(before, after, strict=True))
        if not all(isinstance(part, torch.Tensor) for pair in pairs for part in pair):
            place.fault = place.fault or "it is not a tensor"
            return
        place.compared += 1
        slopes = gradients(before[-1], common)
        spoiled = [*before, *(g for g in slopes if g is not None)]
        failed = not all(bool(torch.isfinite(part).all()) for part in spoiled)
        place.met += failed
        for old, new in pairs:
            place.mismatch = place.mismatch or self._mismatch(old, new)
            if not bool(torch.isfinite(new).all()):
                place.still_bad += 1
            elif not failed and old.shape == new.shape:
                place.healthy += old.numel()
                self._difference(place, old.detach(), new.detach())

    def _mismatch(self, before, after) -> str:
        if before.shape != after.shape:
            return f"the shape {list(before.shape)} became {list(after.shape)}"
        if before.dtype != after.dtype and not (self.widens and is_wider(after, before)):
            return f"the dtype {before.dtype} became {after.dtype}"
        if before.requires_grad != after.requires_grad:
            lost = "no longer" if before.requires_grad else "now"
            return f"it {lost} requires a gradient"
        return ""

    @staticmethod
    def _difference(place: Place, before, after, exact: _Exact | None = None) -> None:
        import torch

        if after.dtype != before.dtype:  # a wider type: what it would be in the narrow one
            place.last_digit = torch.finfo(before.dtype).eps
            after = after.to(before.dtype)
        if before.numel() == 0 or torch.equal(before, after):
            return
        place.identical = False
        kind = torch.complex128 if before.is_complex() or after.is_complex() else torch.float64
        before, after = before.to(kind), after.to(kind)
        largest = max(float(before.abs().max()), place.healthy_value)  # of this call or another
        scale = before.abs().clamp(min=largest * FLOOR)
        relative = ((after - before).abs() / scale).nan_to_num(nan=0.0, posinf=float("inf"))
        relative = relative.masked_fill(~torch.isfinite(after), float("inf"))
        if exact is not None and float(relative.max()) > NEARLY:
            relative = exact.excused(place, relative, after, scale)
        largest = max(place.largest_difference, float(relative.max()))
        place.largest_difference = min(largest, WITHOUT_END)


def _itself(tensor):
    return tensor


def _extents(place: Place, before, after, bad, slopes) -> None:
    """Notes how large values and slopes are where the original failed, and where it did not."""
    import torch

    def largest(values) -> float:
        values = values[torch.isfinite(values)]
        return float(values.abs().max()) if values.numel() else 0.0

    if not after.is_complex():
        place.mended_value = max(place.mended_value, largest(after.detach()[bad]))
        place.healthy_value = max(place.healthy_value, largest(before.detach()[~bad]))
    for old, new in zip(*slopes, strict=True):
        if old is None or new is None or old.is_complex():
            continue
        spoiled = ~torch.isfinite(old)
        place.mended_slope = max(place.mended_slope, largest(new[spoiled]))
        place.healthy_slope = max(place.healthy_slope, largest(old[~spoiled]))


class _Exact:
    """Computes the original in float64: where it lost its digits by rounding, it is no measure."""

    def __init__(self, original: Callable, common) -> None:
        self.original = original
        self.common = common
        self.healthy = None

    def at_failing(self, place: Place, before, after, bad) -> None:
        """Where the original fails but not in float64, the value is known: the patch must have it
        (a difference that cancels is no zero).
        """
        import torch

        if not bool(bad.any()) or not before.is_floating_point():
            return
        try:
            exact = self.original(*wide(copies(self.common))).detach()
        except Exception:
            return
        if exact.shape != before.shape or exact.dtype != torch.float64:
            return
        fits = exact.abs() <= torch.finfo(before.dtype).max  # else no patch can give it
        known = bad & torch.isfinite(exact) & fits
        if not bool(known.any()):
            return
        healthy = before.detach()[~bad].double()
        floor = float(healthy.abs().max()) * FLOOR if healthy.numel() else 0.0
        right, given = exact[known], after.detach().double()[known]
        scale = right.abs().clamp(min=max(floor, torch.finfo(before.dtype).tiny))
        off = ((given - right).abs() / scale).nan_to_num(nan=WITHOUT_END, posinf=WITHOUT_END)
        worst = int(off.argmax())
        place.known += int(known.sum())
        if float(off[worst]) > place.known_off:
            place.known_off = min(float(off[worst]), WITHOUT_END)
            place.known_right, place.known_given = float(right[worst]), float(given[worst])

    def excused(self, place: Place, relative, after, scale):
        """Takes, of elements that changed, the difference from the exact value if that is small."""
        import torch

        try:
            exact = self.original(*wide(copies(self.common)))
            if exact.dtype != torch.float64 or exact.shape != self.healthy.shape:
                return relative
            right = exact.detach()[self.healthy]
            size = torch.maximum(scale, right.abs())  # all digits may be lost: 0 for 0.004
            from_exact = ((after - right).abs() / size).nan_to_num(nan=0.0)
        except Exception:
            return relative  # it cannot be computed in another type
        regained = (relative > NEARLY) & (from_exact <= NEARLY)
        if bool(regained.any()):
            place.regained += int(regained.sum())
            place.lost_by_rounding = max(place.lost_by_rounding, float(relative[regained].max()))
        return torch.where(regained, from_exact, relative)
