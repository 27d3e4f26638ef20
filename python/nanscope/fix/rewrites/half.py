"""Results that half precision cannot hold, and guards that it rounds away."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import LARGEST, NARROW, Case, written
from nanscope.fix.patch.operation import argument, dotted, primary, pure
from nanscope.fix.patch.source_file import Edit
from nanscope.fix.rewrites import division, settings, upcast
from nanscope.fix.rewrites.scope import names_in

LEAST = {"float16": 1e-7, "bfloat16": 1e-30}  # what the type can just hold
CASTS = {"half", "to", "type", "bfloat16"}


def propose(case: Case) -> Iterator[Candidate]:
    """half_overflow: less before the product, the op in float32, or kept inside the narrow type."""
    operation = case.operation
    if operation is None or not operation.operands or operation.in_place:
        return
    source = case.source
    yield from upcast.tempered(case, operation)
    yield from upcast.there_and_back(case, operation)
    yield from upcast.in_float32(case, operation)
    if operation.name in CASTS and operation.form == "method":
        begin = source.whole_span(operation.operands[0])[1]
        yield Candidate(
            "keep_wide",
            "the value does not fit the narrow type: it is not cast.",
            [Edit(source.path, begin, source.span(operation.node)[1], "")],
            widens=True,
        )
        return
    if not upcast.is_of_torch(operation):
        return
    narrow = case.dtype if case.dtype in NARROW else "float16"
    bound = written(LARGEST[narrow]) if narrow == "float16" else "3.3e38"
    if operation.name in ("sum", "mean", "prod", "var", "std", "norm"):
        wide = f"{primary(source, operation.operands[0])}.float()"
        edits = [source.edit(operation.operands[0], wide)]
    else:
        edits = [
            source.edit(node, f"{primary(source, node)}.float()")
            for node in upcast.tensors(operation)
        ]
    begin, end = source.span(operation.node)
    before, after = (
        ("(", ")") if operation.form == "binary" and not operation.node.lpar else ("", "")
    )
    if operation.node.lpar:
        begin, end = source.whole_span(operation.node)
    cast = f".clamp(-{bound}, {bound}).to(torch.{narrow})"
    edits = [Edit(source.path, begin, begin, before), *edits] if before else edits
    yield Candidate(
        "saturate_in_half",
        f"the result does not fit {narrow}: it is computed in float32 and kept in range.",
        [*edits, Edit(source.path, end, end, after + cast)],
        workaround=True,
    )


def guard(case: Case) -> Iterator[Candidate]:
    """eps_underflow: the guard raised to what the type can hold."""
    operation = case.operation
    if operation is None or not operation.operands:
        return
    source = case.source
    narrow = case.dtype if case.dtype in NARROW else "float16"
    for literal, value in _guards(case):
        for least in (LEAST[narrow], 1e-4):
            if value >= least or not _has_slope_at(case, least):
                continue
            yield Candidate(
                "raise_eps",
                f"{source.code(literal)} is 0 in {narrow}; {written(least)} is not.",
                [source.edit(literal, written(least))],
            )
    divisor = division.divisor_of(operation)
    for name in _guard_names(case):
        yield from _where_it_is_set(case, name, narrow)
        if not _has_slope_at(case, LEAST[narrow]):
            continue
        code = source.code(name)
        raised = f"max({code}, torch.finfo({_dtype_of(case)}).tiny)"
        yield Candidate(
            "raise_eps",
            f"`{code}` is 0 in {narrow}: it is at least what the type can hold.",
            [source.edit(name, raised)],
        )
    if divisor is not None:
        yield _kept_above_zero(case, operation, divisor, narrow)
        a, b = (f"{primary(source, n)}.float()" for n in (operation.operands[0], divisor))
        if operation.form == "binary":
            code = f"({a} / {b}).to(torch.{narrow})"
            why = f"the guard is 0 in {narrow}: the division is done in float32."
            yield Candidate("upcast", why, [source.edit(operation.node, code)])


def _has_slope_at(case: Case, value: float) -> bool:
    """The slope of rsqrt goes through its cube, which has to fit the type."""
    takes_slope = case.finding.harm is not None and case.finding.harm.kind == "gradient"
    if case.operation.name != "rsqrt" or not takes_slope:
        return True
    return value**-1.5 < LARGEST.get(case.dtype, LARGEST["float32"])


def _where_it_is_set(case: Case, name: cst.BaseExpression, narrow: str) -> Iterator[Candidate]:
    """`eps=1e-8` of a constructor, an option, a dictionary: that number itself is raised."""
    found = settings.number(case, case.source, name)
    if found is None:
        return
    source, literal, value = found
    begin, end = case.source.span(case.node)
    inside = case.source.span(name)[0] - begin
    code = case.source.text[begin:end]
    before = code[:inside] + source.code(literal) + code[inside + len(case.source.code(name)) :]
    for least in (1e-5, LEAST[narrow]):
        if value < least and _has_slope_at(case, least):
            yield Candidate(
                "raise_eps",
                f"`{case.source.code(name)}` is {source.code(literal)}, which is 0 in {narrow}: "
                f"{written(least)} is not.",
                [source.edit(literal, written(least))],
                compare=Comparison(case.source.path, begin, end, before, code),
            )


def _kept_above_zero(case: Case, operation, divisor, narrow: str) -> Candidate:
    """A root is kept away from 0 inside: behind it, its slope would still be infinite."""
    why = f"the guard is 0 in {narrow}: "
    root = pure(case.source, divisor, "sqrt")
    if root is not None:
        least = written(LEAST[narrow])
        why += f"what the root is taken of is kept at {least} or more."
        return Candidate(
            "clamp_before_sqrt", why, root.wrap(root.operands[0], f"clamp(min={least})")
        )
    least = written(1e-4 if narrow == "float16" else 1e-6)
    why += f"the divisor is kept at {least} or more."
    return Candidate("clamp_divisor", why, operation.wrap(divisor, f"clamp(min={least})"))


def of_leak(case: Case) -> Iterator[Candidate]:
    """Mends a slope that came back because a guard was rounded away."""
    if case.dtype in NARROW:
        yield from guard(case)


def _guards(case: Case) -> list[tuple[cst.BaseExpression, float]]:
    """Small literals inside the failing expression."""
    begin, end = case.source.span(case.node)
    found = []
    for node in case.source.nodes():
        if isinstance(node, cst.Float) and begin <= case.source.span(node)[0] < end:
            value = float(node.value)
            if 0 < value < 1e-3:
                found.append((node, value))
    return found


def _guard_names(case: Case) -> list[cst.Name | cst.Attribute]:
    """`eps`, `self.eps`: a name as a whole, not its last word."""
    begin, end = case.source.span(case.node)
    return [
        node
        for node in case.source.nodes()
        if isinstance(node, cst.Name | cst.Attribute)
        and begin <= case.source.span(node)[0] < end
        and not isinstance(case.source.parent(node), cst.Attribute | cst.Call)
        and getattr(case.source.parent(node), "keyword", None) is not node
        and "eps" in dotted(node).rpartition(".")[2].lower()
    ]


def _dtype_of(case: Case) -> str:
    """`x.dtype` if the expression says so itself, else the type that was seen."""
    for node in case.source.nodes():
        if isinstance(node, cst.Attribute) and node.attr.value == "dtype":
            begin, end = case.source.span(case.node)
            if begin <= case.source.span(node)[0] < end and "torch" not in names_in(node):
                return argument(case.source, node)
    return f"torch.{case.dtype}"
