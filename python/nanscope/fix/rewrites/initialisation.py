"""Weights that are wrong before the first update: without direction, or too large."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import Operation, dotted, imported, is_called, read
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.rewrites.scope import names_in

DRAWN = {"normal": "kaiming_normal_", "trunc_normal": "kaiming_normal_",
         "uniform": "kaiming_uniform_"}  # fmt: skip
SPREADS = {"normal": (2, "std"), "trunc_normal": (2, "std")}

SMALL_SPREAD = 0.05


def propose(case: Case) -> Iterator[Candidate]:
    yield from _without_direction(case)
    if case.cause == "bad_initialisation":
        yield from _too_large(case)


def _without_direction(case: Case) -> Iterator[Candidate]:
    wanted = names_in(case.node) if case.node is not None else set()
    for facts in case.finding.inputs:
        wanted |= {part for part in facts.name.replace("(", ".").split(".") if part}
    for source, name, value in _parameters(case):
        if name in wanted and value.name in ("zeros", "empty"):
            shape = ", ".join(source.code(a) for a in value.node.args)
            yield Candidate(
                "random_initialisation",
                f"`{name}` begins as {value.name}, without direction: it begins small and random.",
                [source.edit(value.node, f"torch.randn({shape}) * 0.02")],
                changes_training=True,
            )


def _parameters(case: Case) -> Iterator[tuple[SourceFile, str, Operation]]:
    """`self.w = nn.Parameter(torch.zeros(3))`: the file, `w`, zeros(3)."""
    for source in case.sources:
        for node in source.nodes():
            if not isinstance(node, cst.Assign):
                continue
            made = read(source, node.value)
            if made is None or made.name != "Parameter" or not made.operands:
                continue
            value = read(source, made.operands[0])
            if value is not None:
                yield source, dotted(node.targets[0].target).rpartition(".")[2], value


def _too_large(case: Case) -> Iterator[Candidate]:
    """Scaled by the width of the layer; or, as they are written, less."""
    drawn = list(_drawn(case))
    scaled = [_kaiming(made) for made in drawn if _can_be_scaled(made)]
    if scaled:
        yield Candidate(
            "kaiming_initialisation",
            "the weights begin too large: drawn by the width of their layer, values keep their "
            "size from layer to layer.",
            scaled,
            changes_training=True,
        )
    for divisor in (10, 100):
        edits = [edit for made in drawn for edit in _less(made, divisor)]
        edits += [
            source.edit(value.node, f"{source.code(value.node)} * {written(1 / divisor)}")
            for source, _, value in _parameters(case)
            if value.name in ("randn", "rand")
        ]
        if edits:
            yield Candidate(
                "smaller_initialisation",
                f"the weights begin too large: they begin {divisor} times smaller.",
                edits,
                changes_training=True,
            )


def _drawn(case: Case) -> Iterator[Operation]:
    """`nn.init.normal_(w, std=3.0)` and `w.normal_(0, 3.0)`, of weights."""
    parameters = {name for _, name, _ in _parameters(case)} | {"weight"}
    for source in case.sources:
        for node in source.nodes():
            made = read(source, node) if isinstance(node, cst.Call) else None
            if made is not None and made.in_place and made.name in DRAWN and made.operands:
                name = dotted(made.operands[0]).removesuffix(".data").rpartition(".")[2]
                of_weights = name in parameters or name in _names_of_parameters(source)
                if (_is_init(made) or of_weights) and not name.endswith("bias"):
                    yield made


def _is_init(made: Operation) -> bool:
    """A function of torch.nn.init, by whatever name that module has."""
    home, _, rest = dotted(made.node.func).partition(".")
    full = f"{imported(made.source).get(home, home)}.{rest}"
    return made.form == "function" and full.startswith("torch.nn.init.")


def _names_of_parameters(source: SourceFile) -> set[str]:
    """`p` of `for p in net.parameters():`"""
    loops = (node for node in source.nodes() if isinstance(node, cst.For))
    drawn = [
        names_in(loop.target)
        for loop in loops
        if is_called(source, loop.iter, "parameters", "named_parameters")
    ]
    return set().union(*drawn)


def _can_be_scaled(made: Operation) -> bool:
    """A function with a home, and with a generator only by name."""
    places = 5 if made.name == "trunc_normal" else 3
    if made.name in SPREADS:
        spread = made.argument(*SPREADS[made.name])
        if isinstance(spread, cst.Float) and spread.evaluated_value <= SMALL_SPREAD:
            return False  # not these are too large
    is_function = made.form == "function" and isinstance(made.node.func, cst.Attribute)
    return is_function and len(made.operands) <= places


def _kaiming(made: Operation) -> Edit:
    source = made.source
    home = source.code(made.node.func.value)
    generator = made.keywords.get("generator")
    more = f", generator={source.code(generator)}" if generator is not None else ""
    code = f"{home}.{DRAWN[made.name]}({source.code(made.operands[0])}{more})"
    return source.edit(made.node, code)


def _less(made: Operation, divisor: int) -> Iterator[Edit]:
    if made.name not in SPREADS:
        return
    place, name = SPREADS[made.name]
    spread = made.argument(place, name)
    if isinstance(spread, cst.Float | cst.Integer):
        yield made.source.edit(spread, written(spread.evaluated_value / divisor))
    elif spread is None:
        yield from made.add_argument(f"{name}={written(1 / divisor)}")
