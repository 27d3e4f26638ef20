"""Inputs by their names in the source, compared with what torch's kernels are really given.

Every expression of the tables is run; each op below it is named and each name is evaluated again:
it must be the tensor that the kernel got. So a name may be missing, but never be wrong.
"""

import functools
import linecache
import sys

import pytest
import torch
import torch.nn.functional as F
from name_cases import NAMED, NAMED_BY_VALUES, OTHERS
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from nanscope.telling.names import (
    LONGEST,
    Argument,
    callee_of,
    of_inputs,
    operand_names,
    saved_names,
    shorten,
)
from nanscope.telling.source import locate

FILE = "<the expression>"


class Holder(nn.Module):
    """A `self` for expressions such as `self.fc(x)`."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.bare = nn.Linear(4, 4, bias=False)
        self.conv = nn.Conv2d(2, 3, 3)
        self.conv1 = nn.Conv1d(2, 3, 3)
        self.up = nn.ConvTranspose2d(2, 3, 3)
        self.norm = nn.LayerNorm(4)
        self.bn = nn.BatchNorm1d(4)
        self.bn2 = nn.BatchNorm2d(2).eval()
        self.gn = nn.GroupNorm(2, 2)
        self.inorm = nn.InstanceNorm2d(2)
        self.rms = nn.RMSNorm(4)
        self.emb = nn.Embedding(9, 4)
        self.softmax = nn.Softmax(-1)
        self.logsoftmax = nn.LogSoftmax(-1)
        self.act = nn.GELU()
        self.prelu = nn.PReLU()
        self.drop = nn.Dropout(0.5)
        self.pool = nn.MaxPool2d(2)
        self.bilinear = nn.Bilinear(4, 4, 4)
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.ce = nn.CrossEntropyLoss(weight=torch.rand(4))
        self.mse = nn.MSELoss()
        self.bce = nn.BCELoss()
        self.bcel = nn.BCEWithLogitsLoss()
        self.kl = nn.KLDivLoss(reduction="batchmean")
        self.huber = nn.HuberLoss()
        self.scale = nn.Parameter(torch.rand(4, 4) + 1)
        self.eps = 0.5


holder = functools.cache(Holder)


def world():
    torch.manual_seed(0)
    names = {name: torch.rand(4, 4) + 0.5 for name in ("x", "y", "z", "w", "p", "a", "b", "c")}
    names.update(
        {name: torch.rand(4, 4, requires_grad=True) for name in ("g", "h")},
        v=torch.rand(4),
        u=torch.rand(4),
        x3=torch.rand(3, 4, 4),
        y3=torch.rand(3, 4, 4),
        mask=torch.tensor([True, False, True, True]),
        index=torch.tensor([0, 2]),
        target=torch.tensor([0, 1, 2, 3]),
        image=torch.rand(2, 2, 5, 5),
        kernel=torch.rand(3, 2, 3, 3),
        three=torch.rand(3),
        query=torch.rand(1, 2, 4, 4),
        key=torch.rand(1, 2, 4, 4),
        value=torch.rand(1, 2, 4, 4),
        parts=[torch.rand(4), torch.rand(4)],
        d={"k": torch.rand(4, 4)},
        lam=2.0,
        n=3,
        self=holder(),
        torch=torch,
        F=F,
        TF=F,
        nn=nn,
    )
    names["net"] = names["self"]
    return names


class Calls(TorchDispatchMode):
    """Notes each op: its name, its tensors, and the Python code between it and the expression."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = list(zip((a.name for a in func._schema.arguments), args, strict=False))
        given += [(k, v) for k, v in kwargs.items() if k not in dict(given)]
        arguments, tensors = [], []
        for name, value in given:
            items = enumerate(value) if isinstance(value, list | tuple) else [(None, value)]
            for i, item in items:
                if isinstance(item, torch.Tensor):
                    is_transposed = item.dim() == 2 and item.stride(0) == 1 != item.stride(1)
                    arguments.append(Argument(name, True, i, False, is_transposed))
                    tensors.append(item)
        expression, inner, variables = self.way_here()
        call = expression, func._schema.name, arguments, tensors, inner, variables
        self.calls.append(call)
        return func(*args, **kwargs)

    @staticmethod
    def way_here():
        """The expression, the code between it and the op, and the variables it sees."""
        codes, frame = [], sys._getframe(2)
        while frame.f_code.co_filename.endswith(("_compile.py", "eval_frame.py", "_dispatch.py")):
            frame = frame.f_back  # the way into __torch_dispatch__
        while frame.f_code.co_filename != FILE:
            codes.append(frame.f_code)
            frame = frame.f_back
        expression = locate(frame.f_code, frame.f_lasti).expression
        return expression, codes[::-1], {**frame.f_globals, **frame.f_locals}


def calls_of(text, names):
    linecache.cache[FILE] = len(text), None, [text + "\n"], FILE
    with Calls() as noted:
        exec(compile(text, FILE, "exec"), names)
    return noted.calls


def holds(name, tensor, names):
    """Whether this name means this tensor, or what it is a view or a rearrangement of."""
    found = torch.as_tensor(eval(name, names))
    if found.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr():
        return True
    ours, theirs = found.to(tensor.dtype).flatten().sort()[0], tensor.flatten().sort()[0]
    return torch.equal(ours, theirs)


@pytest.mark.parametrize("expression, op, expected", NAMED)
def test_named_by_text(expression, op, expected):
    check(expression, op, expected, values=None)


@pytest.mark.parametrize("expression, op, expected", NAMED_BY_VALUES)
def test_named_by_values(expression, op, expected):
    check(expression, op, expected, values=world())


def check(text, op, expected, values):
    seen = []
    for expression, name, arguments, _, inner, _ in calls_of(text, world()):
        seen.append(name)
        if name == f"aten::{op}":
            callee = callee_of(inner)
            names = operand_names(expression, name, arguments, callee=callee, values=values)
            assert names == (expected or [None] * len(names)), (expression, arguments, callee)
            return
    assert expected is None, f"the expression ran {seen}"


@pytest.mark.parametrize("text", [e for e, _, _ in NAMED + NAMED_BY_VALUES] + OTHERS)
def test_never_wrong(text):
    for expression, op, arguments, tensors, inner, names in calls_of(text, world()):
        for values in (None, names):
            callee = callee_of(inner)
            guessed = operand_names(expression, op, arguments, callee=callee, values=values)
            for name, argument, tensor in zip(guessed, arguments, tensors, strict=True):
                if name is not None:
                    assert holds(name, tensor, names), (expression, op, argument, name, callee)


@pytest.mark.parametrize(
    "expression, node, saved, expected",
    [
        ("torch.log(p)", "LogBackward0", ["self"], ["p"]),
        ("x / y", "DivBackward0", ["self", "other"], ["x", "y"]),
        ("x / y.sum()", "DivBackward0", ["other"], ["y.sum()"]),
        ("x * y", "MulBackward0", ["other"], ["y"]),
        ("2 * x", "MulBackward0", ["other"], ["2"]),
        ("x.sqrt()", "SqrtBackward0", ["result"], ["x.sqrt()"]),
        ("x ** y", "PowBackward1", ["exponent", "result", "self"], ["y", "x ** y", "x"]),
        ("x.norm()", "LinalgVectorNormBackward0", ["result", "self"], ["x.norm()", "x"]),
        ("torch.linalg.norm(v)", "LinalgVectorNormBackward0", ["self"], ["v"]),
        ("F.nll_loss(x, t)", "NllLossBackward0", ["self", "target"], ["x", "t"]),
        ("F.log_softmax(x, 1)", "LogSoftmaxBackward0", ["result"], ["F.log_softmax(x, 1)"]),
        ("F.cross_entropy(x, t)", "NllLossBackward0", ["self", "target"], [None, "t"]),
        ("x.foo()", "LogBackward0", ["self"], [None]),
    ],
)
def test_saved_by_the_forward(expression, node, saved, expected):
    assert saved_names(expression, node, saved) == expected


def test_result_of_an_inner_op_is_not_the_expression():
    """The loss is not what log_softmax gave."""
    callee = "torch.nn.functional.cross_entropy"
    names = saved_names("F.cross_entropy(x, t)", "LogSoftmaxBackward0", ["result"], callee=callee)
    assert names == [None]


@pytest.mark.parametrize("values", [None, {}])
@pytest.mark.parametrize(
    "expression", ["", "x +", "import x", "def f(): pass", "x = 1\ny = 2", "(x", "'\\", "a b"]
)
def test_no_expression(expression, values):
    assert operand_names(expression, "aten::log", [Argument("self")], values=values) == [None]


def test_inputs_of_a_finding():
    forward = [("self", -1, False), ("other", -1, False)]
    assert of_inputs("x / y", "aten::div", None, forward) == ["x", "y"]
    assert of_inputs("x / y", "aten::div", "", forward, inside=True) == [None, None]
    product = [("self", -1, False, False), ("mat2", -1, False, False)]
    assert of_inputs("x @ y", "aten::mm", None, product) == ["x", "y"]
    assert of_inputs("x @ y", "aten::mm", None, [p[:3] for p in product]) == [None, None]
    parts = [("tensors", 0, False), ("tensors", 1, False)]
    assert of_inputs("torch.cat([a, b])", "aten::cat", None, parts) == ["a", "b"]
    softmax = [("self", -1, False)]
    assert of_inputs("F.softmax(x, 1)", "aten::_softmax", None, softmax, inside=True) == ["x"]
    assert of_inputs("x.softmax(1)", "aten::_softmax", None, softmax, inside=True) == [None]
    backward = [("self", -1, False), ("other", -1, False), ("other", -1, True)]
    assert of_inputs("x / y", "aten::mul", "DivBackward0", backward) == [None, None, "y"]


def test_operators_of_other_libraries():
    arguments = [Argument("self"), Argument("other")]
    assert (
        operand_names("q * r", "aten::mul", arguments, callee="quaternions.Q.__mul__") == [None] * 2
    )
    assert operand_names("mylib.log(x)", "aten::log", [Argument("self")], callee="mylib.log") == [
        None
    ]


def test_without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    arguments = [Argument("condition"), Argument("self"), Argument("other")]
    assert operand_names("torch.where(c, a, b)", "aten::where.self", arguments) == ["c", "a", "b"]
    assert operand_names("a.where(c, b)", "aten::where", arguments) == ["c", "a", "b"]


def test_long_names_are_shortened():
    long = "first_" + "x" * 80 + "_last"
    (name,) = operand_names(f"torch.log({long})", "aten::log", [Argument("self")])
    assert len(name) == LONGEST
    assert name.startswith("first_")
    assert name.endswith("_last")
    assert "..." in name
    assert shorten("a" * LONGEST) == "a" * LONGEST


def test_white_space_is_folded():
    arguments = [Argument("self"), Argument("other")]
    assert operand_names("(a\n   + b) / (\n c)", "aten::div", arguments) == ["a + b", "c"]
