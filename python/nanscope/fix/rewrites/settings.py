"""Where a setting such as the learning rate is written as a number: in Python, YAML, JSON, TOML."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import dotted
from nanscope.fix.patch.source_file import SourceFile

NUMBER = cst.Float | cst.Integer


def number(case: Case, source: SourceFile, node: cst.BaseExpression | None):
    """(file, literal, value) of a number, or of a setting that is given one at one place only:
    `lr`, `args.lr`, `cfg["lr"]`.
    """
    if isinstance(node, NUMBER):
        return source, node, float(node.evaluated_value)
    return named(case, _name(node))


def of_call(case: Case, source: SourceFile, call: cst.Call, name: str):
    """(file, literal, value) of an option of a call: where it is written as a number, in the call,
    in what is handed on by `**`, or where its name is given a value.
    """
    for given in call.args:
        if given.keyword is not None and given.keyword.value == name:
            return number(case, source, given.value)
    for given in call.args:
        if given.star == "**":
            literal = _in_mapping(given.value, name)
            return number(case, source, literal) if literal else named(case, name)
    return None


def _in_mapping(node: cst.BaseExpression, name: str) -> NUMBER | None:
    """`**{"eps": 0.0}`, `**dict(eps=0.0)`"""
    parts = node.elements if isinstance(node, cst.Dict) else getattr(node, "args", ())
    values = (_value(part, name) for part in parts)
    return next((value for value in values if isinstance(value, NUMBER)), None)


def named(case: Case, name: str):
    """By name, in all files of the user's that the fault has to do with, then in those of settings
    that they read.
    """
    found = [(s, n) for s in case.sources for n in _given(s, name)] if name else []
    if name and not found:
        found = [(s, n) for s in case.settings_files for n in s.numbers() if n.key == name]
    if len(found) != 1:
        return None
    (source, node) = found[0]
    return source, node, float(node.evaluated_value)


def _name(node: cst.BaseExpression | None) -> str:
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Index):
        return _text(node.slice[0].slice.value)
    return dotted(node).rpartition(".")[2]


def _given(source: SourceFile, name: str) -> Iterator[NUMBER]:
    for node in source.nodes():
        value = _value(node, name)
        if isinstance(value, NUMBER):
            yield value


def _value(node: cst.CSTNode, name: str) -> cst.BaseExpression | None:
    """What a node gives to the name, if it does."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            return value if _name(target) == name else None
        case cst.AnnAssign(target=target, value=value):
            return value if _name(target) == name else None
        case cst.Param(name=cst.Name(value=known), default=value):
            return value if known == name else None
        case cst.DictElement(key=key, value=value):
            return value if _text(key) == name else None
        case cst.Arg(keyword=cst.Name(value=known), value=value):
            return value if known == name else None
        case cst.Call() if dotted(node.func).endswith("add_argument"):
            flags = [_text(a.value) for a in node.args if a.keyword is None]
            if name in [flag.lstrip("-").replace("-", "_") for flag in flags]:
                named = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
                return named.get("default")
    return None


def _text(node: cst.BaseExpression | None) -> str:
    if not isinstance(node, cst.SimpleString):
        return ""
    text = node.evaluated_value
    return text if isinstance(text, str) else ""
