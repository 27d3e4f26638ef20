"""The expression that failed, as an operation with operands, however it is spelled.

`a / b`, `a.div(b)`, `torch.div(a, b)`, `a /= b` and `a.div_(b)` are all div(a, b).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from nanscope.findings import Site
from nanscope.fix.patch.source_file import Edit, SourceFile

BINARY = {
    cst.Divide: "div",
    cst.Multiply: "mul",
    cst.Add: "add",
    cst.Subtract: "sub",
    cst.Power: "pow",
    cst.MatrixMultiply: "matmul",
    cst.FloorDivide: "floor_divide",
    cst.Modulo: "remainder",
}
AUGMENTED = {
    cst.DivideAssign: "div",
    cst.MultiplyAssign: "mul",
    cst.AddAssign: "add",
    cst.SubtractAssign: "sub",
    cst.PowerAssign: "pow",
}
SAME = {"true_divide": "div", "divide": "div", "multiply": "mul", "subtract": "sub"}
LOOSE = (
    cst.Arg, cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Element, cst.Expr, cst.GeneratorExp,
    cst.Lambda, cst.ListComp, cst.NamedExpr, cst.Return, cst.SetComp,
)  # fmt: skip
PRIMARY = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.List, cst.Tuple)


@dataclass
class Operation:
    """`form`: binary, augmented, function or method; `target` of a function or method: its call."""

    source: SourceFile
    node: cst.CSTNode
    form: str
    name: str
    operands: list[cst.BaseExpression]
    keywords: dict[str, cst.BaseExpression] = field(default_factory=dict)
    in_place: bool = False

    def argument(self, position: int, *names: str) -> cst.BaseExpression | None:
        """An argument behind the first operand, given by place or by name."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.operands[position] if len(self.operands) > position else None

    def wrap(self, operand: cst.BaseExpression, method: str) -> list[Edit]:
        """The operand with a method call behind it; in place if the whole is, and it is `self`."""
        first = self.in_place and operand is self.operands[0] and self.form == "method"
        name, bracket, rest = method.partition("(")
        return append(self.source, operand, f".{name}{'_' if first else ''}{bracket}{rest}")

    def add_argument(self, text: str) -> list[Edit]:
        """One more keyword argument of the call."""
        call = self.node
        end = self.source.whole_span(call)[1] if not call.lpar else self.source.span(call)[1]
        inside = end - 1
        if not call.args:
            return [Edit(self.source.path, inside, inside, text)]
        last = call.args[-1]
        after = self.source.span(last)[1]
        tail = self.source.text[after:inside]
        if isinstance(last.comma, cst.Comma) or tail.strip().startswith(","):
            comma = self.source.text.index(",", self.source.span(last.value)[1])
            return [Edit(self.source.path, comma + 1, comma + 1, f" {text},")]
        return [Edit(self.source.path, after, after, f", {text}")]


def append(source: SourceFile, node: cst.BaseExpression, suffix: str) -> list[Edit]:
    """`.clamp(...)` behind an expression, in brackets if it needs them."""
    begin, end = source.whole_span(node)
    if is_primary(node):
        return [Edit(source.path, end, end, suffix)]
    return [Edit(source.path, begin, begin, "("), Edit(source.path, end, end, ")" + suffix)]


def added(source: SourceFile, node: cst.BaseExpression, number: str) -> list[Edit]:
    """`+ number`, in brackets unless it stands alone."""
    return [source.edit(node, alone(source, node, f"{source.bare(node)} + {number}"))]


def alone(source: SourceFile, node: cst.BaseExpression, code: str) -> str:
    """An operation in the place of a node: in brackets unless nothing there binds tighter."""
    return code if isinstance(source.parent(node), LOOSE) else f"({code})"


def is_primary(node: cst.CSTNode) -> bool:
    return isinstance(node, PRIMARY) or bool(getattr(node, "lpar", ()))


def primary(source: SourceFile, node: cst.BaseExpression) -> str:
    """Its text, ready for `.method()`."""
    code = source.code(node)
    return code if is_primary(node) else f"({code})"


def argument(source: SourceFile, node: cst.BaseExpression) -> str:
    """Its text as an argument of a call: without brackets that only group."""
    bare = source.bare(node)
    needs = isinstance(node, cst.GeneratorExp | cst.Tuple | cst.NamedExpr) or "#" in bare
    return source.code(node) if needs else bare


# ---------------------------------------------------------------------- finding it
def find(source: SourceFile, site: Site) -> cst.CSTNode | None:
    """The expression (or augmented assignment) that a site of a finding names."""
    if not site.code or not 0 < site.line < len(source.starts) + 1:
        return None
    begin = source.offset(site.line, site.col)
    end = source.offset(site.end_line, site.end_col)
    wanted = " ".join(site.code.split())
    near = []
    for node in source.nodes():
        if not isinstance(node, cst.BaseExpression | cst.AugAssign):
            continue
        span = source.span(node)
        if span == (begin, end):
            same = " ".join(source.text[begin:end].split()) == wanted
            return node if same else None  # the text is another than the one that ran
        if span[1] == end and _begins_at_method(source, node, begin):
            return node
        if span[0] >= source.starts[site.line - 1] and source.line_of(span[0]) == site.line:
            if " ".join(source.text[span[0] : span[1]].split()) == wanted:
                near.append(node)
    return near[0] if len(near) == 1 else None  # in an f-string Python's columns are not its own


def _begins_at_method(source: SourceFile, node: cst.CSTNode, begin: int) -> bool:
    """`.log()` on a line of its own: Python's columns begin at the name."""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and source.span(node.func.attr)[0] == begin
    )


def read(source: SourceFile, node: cst.CSTNode | None) -> Operation | None:
    match node:
        case cst.BinaryOperation() if type(node.operator) in BINARY:
            name = BINARY[type(node.operator)]
            return Operation(source, node, "binary", name, [node.left, node.right])
        case cst.AugAssign() if type(node.operator) in AUGMENTED:
            name = AUGMENTED[type(node.operator)]
            operands = [node.target, node.value]
            return Operation(source, node, "augmented", name, operands, in_place=True)
        case cst.UnaryOperation(operator=cst.Minus()):
            return Operation(source, node, "unary", "neg", [node.expression])
        case cst.Call():
            return _read_call(source, node)
    return None


def pure(source: SourceFile, node: cst.CSTNode | None, *names: str) -> Operation | None:
    """One of these operations, if it has an operand and leaves all it is given as it is."""
    made = read(source, node)
    if made is None or made.name not in names or not made.operands:
        return None
    return None if made.in_place or "out" in made.keywords else made


def _read_call(source: SourceFile, node: cst.Call) -> Operation | None:
    places = [a.value for a in node.args if a.keyword is None and a.star == ""]
    if any(a.star for a in node.args):
        return None
    keywords = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
    if isinstance(node.func, cst.Attribute):
        name, form = node.func.attr.value, "method"
        if is_module(source, node.func.value) or _is_own(node.func.value):
            form = "function"
        else:
            places = [node.func.value, *places]
    elif isinstance(node.func, cst.Name):
        name, form = node.func.value, "function"
    else:
        return None
    if form == "function" and "input" in keywords:
        places = [keywords["input"], *places]
    in_place = name.endswith("_") and not name.endswith("__")
    name = name.rstrip("_") if in_place else name
    return Operation(source, node, form, SAME.get(name, name), places, keywords, in_place)


def is_module(source: SourceFile, node: cst.BaseExpression) -> bool:
    """`torch`, `F`, `torch.special`: names of modules, not tensors."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name) and node.value in imported(source)


def _is_own(node: cst.BaseExpression) -> bool:
    """`self.softmax(x)` is a layer or a function of the object's, not a method of a tensor."""
    return isinstance(node, cst.Name) and node.value in ("self", "cls")


def imported(source: SourceFile) -> dict[str, str]:
    """Names that imports give, and what they stand for: {"F": "torch.nn.functional"}."""
    found: dict[str, str] = {}
    for node in source.nodes():
        if isinstance(node, cst.Import):
            for alias in node.names:
                full = dotted(alias.name)
                name = alias.asname.name.value if alias.asname else full.partition(".")[0]
                found[name] = full if alias.asname else name
        elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            home = dotted(node.module) if node.module is not None else ""
            for alias in node.names:
                name = alias.asname.name.value if alias.asname else dotted(alias.name)
                found[name] = f"{home}.{dotted(alias.name)}"
    return found


def dotted(node: cst.CSTNode | None) -> str:
    """`torch.nn.functional`; empty if it is anything but names and dots."""
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    return ".".join([node.value, *reversed(parts)])


def is_one(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Integer | cst.Float) and node.evaluated_value == 1


def is_called(source: SourceFile, node: cst.CSTNode, *names: str) -> bool:
    """A call of `torch.where`, `F.softmax`, ..., by the last part of its name."""
    operation = read(source, node) if isinstance(node, cst.Call) else None
    return operation is not None and operation.name in names
