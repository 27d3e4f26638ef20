"""0 * inf: masks by multiplication, p * log p."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, argument, primary, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import may_run_twice, value_of


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is not None and operation.name == "kl_div" and operation.operands:
        yield from _divergence(case, operation)
    if operation is None or operation.name != "mul" or len(operation.operands) != 2:
        return
    if operation.in_place:
        return
    source = case.source
    for one, other in (operation.operands, operation.operands[::-1]):
        log = read(source, other)
        if log is not None and log.name == "log" and log.operands:
            if case.finding.makers or case.backward:
                x = primary(source, log.operands[0])
                if may_run_twice(source, log.operands[0]):
                    code = f"{source.code(one)} * {x}.masked_fill({x} == 0, 1.0).log()"
                    why = "0 * log(0) is NaN and its limit 0: the logarithm is taken of 1 there."
                    yield Candidate("one_for_zero", why, [source.edit(operation.node, code)])
                continue  # xlogy has no slope there
            code = f"torch.xlogy({argument(source, one)}, {argument(source, log.operands[0])})"
            why = "0 * log(0) is NaN; xlogy gives its limit, 0."
            yield Candidate("xlogy", why, [source.edit(operation.node, code)])
    zero = _zero(case)
    if zero is None:
        return
    mask, value = operation.operands[zero], operation.operands[1 - zero]
    if not may_run_twice(source, mask):
        return
    m, v = primary(source, mask), primary(source, value)
    parts = [m, f"{v}.masked_fill({m} == 0, 0.0)"]
    if zero == 1:
        parts.reverse()
    why = "a mask by multiplication keeps 0 * inf: what is masked is filled first."
    yield Candidate("masked_fill", why, [source.edit(operation.node, " * ".join(parts))])


def of_ratio(case: Case) -> Iterator[Candidate]:
    """`p * log(p / q)`: where p is 0 it adds nothing, whatever q is."""
    source = case.source
    log = _log_of_ratio(source, case.node)
    if log is None:
        return
    ratio = read(source, log.operands[0])
    outer = source.parent(log.node)
    product = read(source, outer) if isinstance(outer, cst.BinaryOperation) else None
    if product is None or product.name != "mul" or len(ratio.operands) != 2:
        return
    weight = next((o for o in product.operands if o is not log.node), None)
    p, q = (primary(source, operand) for operand in ratio.operands)
    if weight is None or source.bare(weight) != source.bare(ratio.operands[0]):
        return
    if not all(may_run_twice(source, operand) for operand in ratio.operands):
        return
    inside = f"{p}.masked_fill({p} == 0, 1.0) / {q}.masked_fill({p} == 0, 1.0)"
    inside = f"({inside})" if log.form == "method" else inside
    code = source.code(outer).replace(source.code(log.operands[0]), inside, 1)
    if source.code(outer).count(source.code(log.operands[0])) != 1:
        return
    yield Candidate(
        "one_for_zero",
        f"{source.shown(weight)} can be 0, where 0 * log(0 / ...) is NaN and its limit 0: the "
        "logarithm is taken of 1 there.",
        [source.edit(outer, code)],
        compare=Comparison(source.path, *source.whole_span(outer), source.code(outer), code),
    )


def as_geometric_mean(case: Case) -> Iterator[Candidate]:
    """`p.prod(1) ** (1 / n)`: the product underflows, the sum of the logarithms does not."""
    source, power = case.source, case.operation
    if power is None or power.name != "pow" or power.form == "augmented" or power.in_place:
        return
    if len(power.operands) != 2 or power.keywords:
        return
    product = pure(source, value_of(source, power.operands[0]), "prod")
    if product is None or product.keywords.keys() - {"dim", "keepdim"}:
        return
    if len(product.operands) + len(product.keywords) < 2:
        return
    options = [source.code(node) for node in product.operands[1:]]
    options += [f"{name}={source.code(node)}" for name, node in product.keywords.items()]
    logs = f"torch.log({argument(source, product.operands[0])}).sum({', '.join(options)})"
    exponent = power.operands[1]
    is_bare = isinstance(exponent, cst.Float | cst.Integer)
    factor = source.bare(exponent) if is_bare else primary(source, exponent)
    yield Candidate(
        "sum_of_logarithms",
        f"{source.shown(product.node)} underflows, and the slope of its root at 0 is infinite: the "
        "root of a product of positive numbers is the exponential of the mean of their logarithms.",
        [source.edit(power.node, f"torch.exp({logs} * {factor})")],
    )


def _log_of_ratio(source: SourceFile, node: cst.CSTNode | None) -> Operation | None:
    """Reads the logarithm of `log(p / q)`, given it or the quotient in it."""
    if isinstance(node, cst.BinaryOperation):
        node = source.parent(node)
        node = source.parent(node) if isinstance(node, cst.Arg | cst.Attribute) else node
    log = pure(source, node, "log") if isinstance(node, cst.Call) else None
    ratio = read(source, log.operands[0]) if log is not None else None
    is_ratio = ratio is not None and ratio.name == "div" and ratio.form == "binary"
    return log if is_ratio else None


def _divergence(case: Case, operation: Operation) -> Iterator[Candidate]:
    """What both sides give probability 0 adds nothing: kl_div multiplies 0 by its logarithm."""
    first = operation.operands[0]
    shown = case.source.shown(first)
    yield Candidate(
        "finite_logarithm",
        f"{shown} is -inf where the target is 0, and kl_div multiplies the two: it is kept at "
        "-1e4 or more, so that the product is 0.",
        operation.wrap(first, "clamp(min=-1e4)"),
    )


def _zero(case: Case) -> int | None:
    """Which operand is 0 where it failed."""
    for i, name in enumerate(("self", "other")):
        facts = case.input(name)
        if facts is not None and facts.at_index and facts.at_index[0] == 0:
            return i
    return None
