"""A fault inside an installed library: what the user passes to it is kept where it can work."""

from __future__ import annotations

import os
from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import Operation, append, dotted, find, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites import division, exponential, trigonometry
from nanscope.fix.rewrites.scope import nodes_in, value_of

GUARDS = ("eps", "epsilon", "min_value", "clamp_min", "smooth")
EDGES = {"float64": "1e-12", "float16": "1e-3", "bfloat16": "1e-2"}  # else 1e-6
METHODS = ("forward", "__call__", "__init__")
NEEDS = {
    "log_of_zero": "is greater than 0",
    "log_of_negative": "is greater than 0",
    "division_by_zero": "is not 0",
    "sqrt_of_negative": "is not negative",
    "sqrt_gradient_at_zero": "is greater than 0",
    "norm_gradient_at_zero": "is not all 0",
    "inverse_trig_domain": "is inside -1 and 1",
    "exp_overflow": "is not as large",
    "empty_reduction": "is not empty",
    "all_masked_softmax": "has no row that is masked as a whole",
}


def propose(case: Case) -> Iterator[Candidate]:
    inside = _inside(case)
    if inside is None or not isinstance(case.node, cst.Call):
        return
    library, node, function = inside
    site = case.origin.library_site
    place = f"{site.file}:{site.line}"
    for name in _guards(library, node, function):
        call = _call_that_takes(case, library, function, name, of_object=name[1])
        if call is not None and name[0] not in call.keywords:
            least = written(case.small())
            yield Candidate(
                "pass_eps",
                f"the guard of {place} is too small: `{name[0]}` is {least}.",
                call.add_argument(f"{name[0]}={least}"),
            )
    yield from _inside_support(case, library)
    operand, suffix = _guarded(case, read(library, node))
    if operand is None:
        return
    name, of_object = _parameter(library, operand)
    call = _call_that_takes(case, library, function, (name, of_object), of_object) if name else None
    given = _argument(library, function, call, name, of_object) if call is not None else None
    if given is not None:
        shown = call.source.shown(given)
        yield Candidate(
            "guard_argument",
            f"{place} fails on what is passed as `{name}`: {shown} is kept where it can work.",
            append(call.source, given, suffix),
        )


def _inside_support(case: Case, library: SourceFile) -> Iterator[Candidate]:
    """`dist.log_prob(x)` at the edge of where the distribution lives: x is kept inside."""
    called = read(case.source, case.node)
    of_torch = os.path.join("torch", "distributions") + os.sep in library.path
    if not of_torch or called is None or called.name != "log_prob" or len(called.operands) != 2:
        return
    value = called.operands[1]
    shown, edge = case.source.shown(value), EDGES.get(case.dtype, "1e-6")
    for bounds, where in ((f"{edge}, 1 - {edge}", "0 or 1"), (f"min={edge}", "0")):
        yield Candidate(
            "inside_support",
            f"{shown} can be {where}, where the density is 0 or infinite: it is kept {edge} away.",
            append(case.source, value, f".clamp({bounds})"),
        )


def advice(case: Case) -> str:
    """Where in the library, and what to pass to it."""
    site = case.origin.library_site
    text = f"It happens inside a library, at {site.file}:{site.line}"
    text += f", in `{' '.join(site.code.split())}`" if site.code else ""
    inside = _inside(case)
    operand, _ = _guarded(case, read(inside[0], inside[1])) if inside is not None else (None, "")
    need = NEEDS.get(case.cause)
    if need is None:
        return f"{text}: look at what is passed to it."
    what = f"`{inside[0].bare(operand)}`" if operand is not None else "what goes into it"
    return f"{text}: pass it arguments with which {what} {need}."


def _inside(case: Case) -> tuple[SourceFile, cst.CSTNode, cst.FunctionDef] | None:
    """The library's text, its expression that failed, and the function around it."""
    site = case.origin.library_site
    library = case.file(site.file) if site and site.code else None
    if library is None:
        return None
    try:
        node = find(library, site)
    except (cst.ParserSyntaxError, IndexError):
        return None
    parents = library.parents(node) if node is not None else ()
    function = next((p for p in parents if isinstance(p, cst.FunctionDef)), None)
    return (library, node, function) if function is not None else None


def _guarded(case: Case, operation: Operation | None) -> tuple[cst.BaseExpression | None, str]:
    """The operand that broke it, and what keeps it where it can work."""
    if operation is None or not operation.operands:
        return None, ""
    name, first = operation.name, operation.operands[0]
    least = written(case.small(case.operand("self") or case.operand("other")))
    divisor = division.divisor_of(operation)
    if divisor is not None:
        return divisor, f".clamp(min={least})"
    if name in ("log", "log2", "log10", "sqrt", "rsqrt", "pow"):
        return first, f".clamp(min={least})"
    if name in ("exp", "expm1", "sinh", "cosh"):
        return first, f".clamp(max={exponential.LIMITS[case.dtype][0]})"
    if trigonometry.SAME.get(name, name) in ("acos", "asin", "atanh"):
        edge = trigonometry.EDGE[case.dtype]
        return first, f".clamp(-1 + {edge}, 1 - {edge})"
    return None, ""


def _parameter(library: SourceFile, node: cst.BaseExpression) -> tuple[str, bool]:
    """`p`: a parameter perhaps; `self.p`: of the object."""
    node = value_of(library, node)
    name = dotted(node)
    return name.removeprefix("self."), name.startswith("self.")


def _guards(library: SourceFile, node, function) -> list[tuple[str, bool]]:
    text = library.bare(node)
    taken = {name for name, _ in _parameters(function)}
    found = [(n, False) for n in GUARDS if n in taken and n in text]
    return found + [(n, True) for n in GUARDS if f"self.{n}" in text]


def _parameters(function: cst.FunctionDef) -> list[tuple[str, cst.Param]]:
    parameters = [*function.params.params, *function.params.kwonly_params]
    return [(p.name.value, p) for p in parameters if p.name.value != "self"]


def _call_that_takes(case, library, function, name, of_object: bool) -> Operation | None:
    """The user's call of that function; of a value of the object, the call that made the object."""
    called = read(case.source, case.node)
    if called is None:
        return None
    if not of_object:
        word = dotted(case.node.func).rpartition(".")[2] or called.name
        known = word == function.name.value or function.name.value in METHODS
        return called if known and name[0] in dict(_parameters(function)) else None
    owner = next((p for p in library.parents(function) if isinstance(p, cst.ClassDef)), None)
    if owner is None:
        return None
    made = [
        (source, node)
        for source in case.sources
        for node in source.nodes()
        if isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] == owner.name.value
    ]
    return read(*made[0]) if len(made) == 1 else None


def _argument(library, function, call: Operation, name: str, of_object: bool):
    """What the user's call passes for a parameter."""
    if of_object:
        owner = next(p for p in library.parents(function) if isinstance(p, cst.ClassDef))
        makers = [n for n in nodes_in(library, owner) if isinstance(n, cst.FunctionDef)]
        function = next((n for n in makers if n.name.value == "__init__"), None)
        if function is None:
            return None
    if _is_assigned(library, function, name):
        return None
    names = [known for known, _ in _parameters(function)]
    if name not in names:
        return None
    places = [a.value for a in call.node.args if a.keyword is None]
    given = call.keywords.get(name)
    if given is None and names.index(name) < len(places):
        given = places[names.index(name)]
    return given


def _is_assigned(library: SourceFile, function: cst.FunctionDef, name: str) -> bool:
    """It is another value by then."""
    targets = (n for n in nodes_in(library, function) if isinstance(n, cst.AssignTarget))
    return any(dotted(t.target) == name for t in targets)
