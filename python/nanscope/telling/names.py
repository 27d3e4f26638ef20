"""What the inputs of an op are called in the source: `p`, `mask.sum()`, `self.fc.weight`.

The expression that ran and the op's schema say which operand became which argument. Where the two
do not settle it the answer is None, and the caller falls back to the schema's own word: a wrong
name sends the reader to the wrong tensor, no name does not.

Text alone cannot tell a number from a tensor (`lam * x` is mul(x, lam) if lam is a float), a module
from a tensor (`net.norm(x)`) nor a matrix from a batch. `Argument.number`, `callee` and `values`
can; without them those few forms have no names.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import NamedTuple

from nanscope.telling.binding import UNKNOWN, Binding, Reader
from nanscope.telling.expression import parse_expression, parse_statement
from nanscope.telling.variables import Variables

LONGEST = 60
_SYMMETRIC = {"add", "mul", "eq", "ne"}


class Argument(NamedTuple):
    """A tensor argument of the op, by its name in the schema."""

    schema_name: str
    is_tensor: bool = True
    index: int | None = None  # in a list of tensors
    number: bool = False  # a Python number that torch made into a tensor
    transposed: bool | None = None  # a matrix whose columns lie side by side in memory


def operand_names(
    expression: str,
    op: str,
    arguments: Sequence[Argument],
    *,
    callee: str | None = None,
    values: Mapping[str, object] | None = None,
) -> list[str | None]:
    """The name of each argument of `op`, or None.

    `expression` is Site.expression of the user's frame and `values` are the variables it sees.
    `callee` tells what that frame called in Python: `callee_of` the frames further in; None if the
    op was called directly. All tensors that the op was given have to be in `arguments`: of two
    operands, one that is missing is taken for a Python number.
    """
    source, node = _parsed(expression)
    binding = _reader(source, op, arguments, callee, values).bind(node)
    return [_name(binding, argument, source) for argument in arguments]


def of_inputs(
    expression: str,
    op: str,
    node: str | None,
    inputs: Sequence[tuple],
    inner: Sequence[CodeType] = (),
    inside: bool = False,
    values: Mapping[str, object] | None = None,
) -> list[str | None]:
    """The names of a finding's inputs: (name in the schema, index in a list or -1, saved) and, if
    it is known, Argument.transposed.

    In backward, when there is a `node`, the expression is that of the forward: it tells about what
    the node saved, and nothing about the gradients. `inner` is the code of the frames between the
    expression and the op, outermost first; `inside` says that there are some, if it is not known
    which, and then hardly anything has a name.
    """
    callee = callee_of(inner) or (UNKNOWN if inside else None)
    if not node:
        arguments = [
            Argument(name, index=i if i >= 0 else None, transposed=more[0] if more else None)
            for name, i, _, *more in inputs
        ]
        return operand_names(expression, op, arguments, callee=callee, values=values)
    saved = [name for name, _, is_saved, *_ in inputs if is_saved]
    names = iter(saved_names(expression, node, saved, callee=callee, values=values))
    return [next(names) if is_saved else None for _, _, is_saved, *_ in inputs]


def saved_names(
    expression: str,
    node: str,
    saved: Sequence[str],
    *,
    callee: str | None = None,
    values: Mapping[str, object] | None = None,
) -> list[str | None]:
    """The same for what an autograd node keeps of its forward op: `self` of LogBackward0.

    `result` is what the expression gave, so it is named by the whole of it.
    """
    forward = re.sub(r"Backward\d*$", "", node)
    kernel = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", forward).lower()
    arguments = [Argument(name) for name in saved]
    source, tree = _parsed(expression)
    for op in (kernel, f"_{kernel}", f"{kernel}_forward"):
        reader = _reader(source, op, arguments, callee, values, is_saved=True)
        binding = reader.bind(tree)
        if binding:
            if reader.gives_result:
                binding["result"] = expression
            return [_name(binding, argument, source) for argument in arguments]
    return [None] * len(saved)


def callee_of(inner: Sequence[CodeType]) -> str | None:
    """What a frame called in Python, from the code of the frames in it, outermost first.

    A dotted name; for the call of an nn.Module that of the class whose forward it is.
    """
    names = [_dotted_name(code) for code in inner]
    calls = ("torch.nn.modules.module.Module.", "torch._jit_internal.boolean_dispatch.")
    while len(names) > 1 and names[0].startswith(calls):
        del names[0]
    return names[0].removesuffix(".forward") if names else None


def shorten(text: str) -> str:
    """At most LONGEST characters: the middle goes first."""
    if len(text) <= LONGEST:
        return text
    half = (LONGEST - 3) // 2
    return f"{text[: LONGEST - 3 - half]}...{text[-half:]}"


def _parsed(expression: str) -> tuple[str, ast.AST | None]:
    node = parse_expression(expression)
    if node is not None:
        return f"({expression}\n)", node
    return expression, parse_statement(expression)


def _reader(
    source: str,
    op: str,
    arguments: Sequence[Argument],
    callee: str | None,
    values: Mapping[str, object] | None,
    is_saved: bool = False,
) -> Reader:
    name = op.rpartition("::")[2].partition(".")[0]
    kernel = name if name.endswith("__") else name.removesuffix("_")
    tensors = {a.schema_name for a in arguments if a.is_tensor and not a.number}
    numbers = any(argument.number for argument in arguments)
    # An op of two operands that got one tensor got a number too. What is saved proves nothing.
    alone = kernel in _SYMMETRIC and len(tensors & {"self", "other"}) == 1 and not is_saved
    # A node may save results under names of their own: eigh's `eigenvalues` are no argument.
    orders = _signatures(op, tensors, some=is_saved)
    if not orders:
        orders = [["self"] if is_saved else list(dict.fromkeys(a.schema_name for a in arguments))]
    variables = Variables(values or {})
    transposed = arguments[-1].transposed if arguments else None
    return Reader(source, kernel, orders, numbers or alone, transposed, callee, variables)


def _signatures(op: str, tensors: set[str], some: bool) -> list[list[str]]:
    """The positional parameters of every overload that takes these tensors, or some of them; []
    without torch.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return []
    name, _, overload = op.partition(".")
    found = []
    for schema in torch._C._jit_get_schemas_for_operator(name if "::" in name else f"aten::{name}"):
        takes = {a.name for a in schema.arguments if "Tensor" in str(a.type)}
        fits = bool(tensors & takes) if some else tensors <= takes
        if fits and overload in ("", schema.overload_name):
            found.append([a.name for a in schema.arguments if not a.kwarg_only])
    return found


def _dotted_name(code: CodeType) -> str:
    home = os.path.dirname(next(iter(getattr(sys.modules.get("torch"), "__path__", ())), ""))
    path = code.co_filename.removesuffix(".py").removesuffix("/__init__")
    if home and path.startswith(home + os.sep):
        path = path[len(home) + 1 :]
    return f"{path.replace(os.sep, '.')}.{code.co_qualname}"


def _name(binding: Binding, argument: Argument, source: str) -> str | None:
    bound = binding.get(argument.schema_name)
    if argument.index is not None and bound is not None:
        return _element(bound, argument.index, source)
    return _text(bound, source)


def _element(bound: ast.expr | str, index: int, source: str) -> str | None:
    """Element `index` of a list argument: `torch.cat([a, b])`, `torch.cat(parts)`."""
    if isinstance(bound, ast.List | ast.Tuple):
        before = bound.elts[: index + 1]
        if len(before) <= index or any(isinstance(item, ast.Starred) for item in before):
            return None
        return _text(before[index], source)
    if isinstance(bound, ast.Name | ast.Attribute | ast.Subscript):
        return f"{_text(bound, source)}[{index}]"
    return None


def _text(bound: ast.expr | str | None, source: str) -> str | None:
    if bound is None:
        return None
    text = bound if isinstance(bound, str) else ast.get_source_segment(source, bound)
    return shorten(" ".join(text.split())) if text else None
