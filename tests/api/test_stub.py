"""The stub of the torch adapter is written by hand; here it is held to the module."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "python" / "nanscope" / "_torch.pyi"
PLAIN = {"bool", "bytes", "float", "int", "str", "None"}  # types that both sides can say

Functions = dict[str, ast.FunctionDef]


def functions_of(body: list[ast.stmt], owner: str = "") -> Functions:
    return {owner + node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def stubbed(text: str) -> Functions:
    """Functions by their names, methods by `Class.name`."""
    tree = ast.parse(text)
    found = functions_of(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= functions_of(node.body, f"{node.name}.")
    return found


def signature_of(function: object) -> ast.FunctionDef:
    """As nanobind keeps it: defaults are numbers behind a backslash, our own types are in C++."""
    (text, *_), *others = function.__nb_signature__
    assert not others, f"{function} is overloaded"
    return ast.parse(re.sub(r"\\\d+", "...", text) + ": ...").body[0]


def there(module: object) -> Functions:
    found = {}
    for name, value in vars(module).items():
        if name.startswith("__"):
            continue
        if not isinstance(value, type):
            found[name] = signature_of(value)
            continue
        for method, function in vars(value).items():
            if hasattr(function, "__nb_signature__"):
                found[f"{name}.{method}"] = signature_of(function)
    return found


def type_of(annotation: ast.expr | None) -> str:
    text = ast.unparse(annotation) if annotation is not None else ""
    return text if text in PLAIN else ""


def parameters(function: ast.FunctionDef) -> list[tuple[str, str, bool, str]]:
    """Of each: how it is given, its name if it can be given by that, a default, its plain type."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    required = len(positional) - len(args.defaults)
    found = []
    for i, arg in enumerate(positional):
        if arg.arg == "self":
            continue
        only = i < len(args.posonlyargs)
        name = "" if only else arg.arg
        kind = "positional" if only else "either"
        found.append((kind, name, i >= required, type_of(arg.annotation)))
    found += [("*", "", False, "")] if args.vararg else []
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(("keyword", arg.arg, default is not None, type_of(arg.annotation)))
    return found + ([("**", "", False, "")] if args.kwarg else [])


def difference(stub: ast.FunctionDef, real: ast.FunctionDef) -> str:
    """Empty: the stub says of it what is so, as far as the module knows."""
    said, so = parameters(stub), parameters(real)
    if [one[:3] for one in said] != [one[:3] for one in so]:
        return f"{ast.unparse(stub.args)} is said, ({ast.unparse(real.args)}) is so"
    types = [(one[3], other[3]) for one, other in zip(said, so, strict=True)]
    types.append((type_of(stub.returns), type_of(real.returns)))
    if any(other and one != other for one, other in types):
        return f"the types {ast.unparse(stub)} are said, {ast.unparse(real)} are so"
    return ""


@pytest.fixture(scope="module")
def adapter() -> object:
    import torch  # noqa: F401  the adapter is linked against it

    from nanscope import _torch

    return _torch


def test_it_names_what_the_adapter_has(adapter: object) -> None:
    kinds = (ast.FunctionDef, ast.ClassDef)
    named = {node.name for node in ast.parse(STUB.read_text()).body if isinstance(node, kinds)}
    assert named == {name for name in vars(adapter) if not name.startswith("__")}


def test_its_signatures_are_those_of_the_adapter(adapter: object) -> None:
    said, so = stubbed(STUB.read_text()), there(adapter)
    del so["RegionMemory.__init__"]  # as any object's
    assert said.keys() == so.keys()
    differences = {name: difference(said[name], so[name]) for name in said}
    assert {name: text for name, text in differences.items() if text} == {}


def test_its_attributes_are_those_of_the_adapter(adapter: object) -> None:
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            said = {each.target.id for each in node.body if isinstance(each, ast.AnnAssign)}
            members = vars(getattr(adapter, node.name)).items()
            assert said == {name for name, value in members if isinstance(value, property)}


def of(text: str) -> ast.FunctionDef:
    return ast.parse(text + ": ...").body[0]


@pytest.mark.parametrize(
    "said",
    [
        "def f(a: int, b: bool, /) -> str",  # as it is
        "def f(a: int, b: bool = False, /) -> str",
        "def f(a: int, /) -> str",
        "def f(a: int, b: bool) -> str",
        "def f(a: int, b: int, /) -> str",
        "def f(a: int, b: bool, /) -> None",
        "def f(a: int, b: bool, /, *args: object) -> str",
    ],
)
def test_what_differs_is_found(said: str) -> None:
    real = of("def f(arg0: int, arg1: bool, /) -> str")
    assert bool(difference(of(said), real)) == (said != "def f(a: int, b: bool, /) -> str")
