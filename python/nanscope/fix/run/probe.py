"""In a child: computes the original and the patched expression from the same values.

A patched source calls `__nanscope__.compare(n, original, patched, *values)` where it computes the
patched expression. `values` are what both have in common, computed once, by the program. The
result of `patched` is the program's; that of `original` is only looked at. So it is measured, in
the very place, whether what broke the original is met again and what the patch does to the rest.
"""

from __future__ import annotations

from contextlib import contextmanager

from nanscope.fix.run.messages import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

MOST_COMPARISONS = 2000  # of one place in one run
NEARLY = 1e-4  # the largest relative difference of values that count as kept
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

    def place(self, number: int) -> Place:
        return self.places.setdefault(number, Place())

    def ran(self, number: int, value: object) -> object:
        self.place(number).ran += 1
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
            before = original(*_copies(common))
            after = patched(*_copies(common))
            exact = _Exact(original, common)
            self._measure(place, common, before, after, exact)
        return value(*common)

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
        slopes = _gradients(before, common), _gradients(after, common)
        bad = ~torch.isfinite(before)
        spoiled = [~torch.isfinite(g) for g in slopes[0] if g is not None]
        if self.second_order and not any(bool(s.any()) for s in spoiled):
            again = _second_gradients(before, common)
            spoiled = [~torch.isfinite(g) for g in again if g is not None]
        if bool(bad.any()) or any(bool(s.any()) for s in spoiled):
            place.met += 1
        if before.shape != after.shape:
            return
        if bool((bad & ~torch.isfinite(after)).any()):
            place.still_bad += 1
        for where in spoiled:
            if where.dim() <= bad.dim():
                try:
                    bad = bad | where.expand_as(bad)
                except RuntimeError:
                    pass  # of another shape: its elements are not those of the result
        exact.healthy = ~bad
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
        slopes = _gradients(before[-1], common)
        spoiled = [*before, *(g for g in slopes if g is not None)]
        failed = not all(bool(torch.isfinite(part).all()) for part in spoiled)
        place.met += failed
        for old, new in pairs:
            place.mismatch = place.mismatch or self._mismatch(old, new)
            if not bool(torch.isfinite(new).all()):
                place.still_bad += 1
            elif not failed and old.shape == new.shape:
                self._difference(place, old.detach(), new.detach())

    def _mismatch(self, before, after) -> str:
        if before.shape != after.shape:
            return f"the shape {list(before.shape)} became {list(after.shape)}"
        if before.dtype != after.dtype and not (self.widens and _is_wider(after, before)):
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
        wide = torch.complex128 if before.is_complex() or after.is_complex() else torch.float64
        before, after = before.to(wide), after.to(wide)
        scale = before.abs().clamp(min=float(before.abs().max()) * FLOOR)
        relative = ((after - before).abs() / scale).nan_to_num(nan=0.0, posinf=float("inf"))
        relative = relative.masked_fill(~torch.isfinite(after), float("inf"))
        if exact is not None and float(relative.max()) > NEARLY:
            relative = exact.excused(place, relative, after, scale)
        largest = max(place.largest_difference, float(relative.max()))
        place.largest_difference = min(largest, WITHOUT_END)


def _itself(tensor):
    return tensor


class _Exact:
    """Computes the original in float64: where it lost its digits by rounding, it is no measure."""

    def __init__(self, original: Callable, common) -> None:
        self.original = original
        self.common = common
        self.healthy = None

    def excused(self, place: Place, relative, after, scale):
        """Takes, of elements that changed, the difference from the exact value if that is small."""
        import torch

        try:
            wide = self.original(*_wide(_copies(self.common)))
            if wide.dtype != torch.float64 or wide.shape != self.healthy.shape:
                return relative
            from_exact = (after - wide.detach()[self.healthy]).abs() / scale
        except Exception:
            return relative  # it cannot be computed in another type
        regained = (relative > NEARLY) & (from_exact <= NEARLY)
        if bool(regained.any()):
            place.regained += int(regained.sum())
            place.lost_by_rounding = max(place.lost_by_rounding, float(relative[regained].max()))
        return torch.where(regained, from_exact, relative)


def _wide(values) -> list:
    import torch

    return [
        v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values
    ]


def _copies(values) -> list:
    """Copies, so that an op in place spoils nothing; the graph behind them is the same."""
    import torch

    return [v.clone() if isinstance(v, torch.Tensor) else v for v in values]


def _differentiable(values) -> list:
    import torch

    return [
        v
        for v in values
        if isinstance(v, torch.Tensor) and v.requires_grad and v.is_floating_point()
    ]


def _second_gradients(result, common) -> list:
    """Differentiates twice, as the program may; gives none where the expression cannot be."""
    import torch

    inputs = _differentiable(common)
    if not inputs or not result.requires_grad:
        return []
    try:
        once = torch.autograd.grad(
            result, inputs, torch.ones_like(result), create_graph=True, allow_unused=True
        )
        slopes = [g for g in once if g is not None and g.requires_grad]
        if not slopes:
            return []
        total = sum(g.sum() for g in slopes)
        return list(torch.autograd.grad(total, inputs, allow_unused=True))
    except RuntimeError:
        return []


def _gradients(result, common) -> list:
    """Differentiates the sum of the result by each of the values that can have a gradient."""
    import torch

    inputs = _differentiable(common)
    if not inputs or not result.requires_grad or not torch.is_grad_enabled():
        return [None] * len(inputs)
    ones = torch.ones_like(result)
    return list(torch.autograd.grad(result, inputs, ones, retain_graph=True, allow_unused=True))


def _is_wider(after, before) -> bool:
    import torch

    narrow = (torch.float16, torch.bfloat16)
    return before.dtype in narrow and after.dtype in (torch.float32, torch.float64)
