"""Division, comments, the order of candidates, and text that must survive: text in, text out."""

from __future__ import annotations

import pytest
from proposing import HEAD, SIZES, body, case_of, first, patched, proposals, tensor

from nanscope.fix.patch import instrument, propose

# -------------------------------------------------------------------------- division
COUNTS = tensor("other", max=2.0, mean=1.0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «a / degree»", "y = a / degree.clamp(min=1)"),
        ("y = «a @ b / w.sum(1)»", "y = a @ b / w.sum(1).clamp(min=1)"),
        ("y = «torch.div(a, n)»", "y = torch.div(a, n.clamp(min=1))"),
        ("y = «a.div(n)».mean()", "y = a.div(n.clamp(min=1)).mean()"),
        ("«a.div_(n)»", "a.div_(n.clamp(min=1))"),
        ("«a /= n»", "a /= n.clamp(min=1)"),
        ("«a /= n + m»  # mean", "a /= (n + m).clamp(min=1)  # mean"),
        ("y = [«r / n» for r in rows]", "y = [r / n.clamp(min=1) for r in rows]"),
        ("f = lambda r: «r / n»", "f = lambda r: r / n.clamp(min=1)"),
        ("if (m := («a / n»).sum()) > 0: pass", "if (m := (a / n.clamp(min=1)).sum()) > 0: pass"),
        ("x: torch.Tensor = «a / n»", "x: torch.Tensor = a / n.clamp(min=1)"),
        ("@wrap(«a / n»)\ndef f(): ...", "@wrap(a / n.clamp(min=1))\ndef f(): ..."),
        ('print(f"{«a / n»}")', 'print(f"{a / n.clamp(min=1)}")'),
        ("def f():\n\treturn «a / n»\n", "def f():\n\treturn a / n.clamp(min=1)\n"),
        (
            "y = (\n    «a  # above\n    / (  # below\n    n + m  # both\n    )»\n)\n",
            "y = (\n    a  # above\n    / (  # below\n    n + m  # both\n    ).clamp(min=1)\n)\n",
        ),
    ],
)
def test_a_count_that_divides(tmp_path, before, after):
    assert body(tmp_path, before, "division_by_zero", COUNTS) == after


def test_eps_has_the_scale_of_the_divisor(tmp_path):
    found = body(tmp_path, "y = «x / x.abs().mean()»", "division_by_zero", SIZES)
    assert found == "y = x / x.abs().mean().clamp(min=1e-8)"
    small = tensor("other", mean=2e-6)
    assert "clamp(min=1e-12)" in body(tmp_path, "y = «x / d»", "division_by_zero", small)
    half = tensor("other", dtype="float16", mean=0.4)
    assert "clamp(min=1e-4)" in body(tmp_path, "y = «x / d»", "division_by_zero", half)


def test_a_divisor_with_both_signs_keeps_them(tmp_path):
    facts = tensor("other", negatives=2, mean=0.1)
    found = body(tmp_path, "y = «a / (b - c)»", "division_by_zero", facts)
    assert found == "y = a / (b - c).masked_fill((b - c) == 0, 1.0)"


def test_windows_line_endings_and_comments_survive(tmp_path):
    before = "import torch\r\ny = «a / n»  # per node\r\nz = 1\r\n"
    found = first(tmp_path, before, "division_by_zero", COUNTS)
    assert found == "import torch\r\ny = a / n.clamp(min=1)  # per node\r\nz = 1\r\n"


def test_an_encoding_survives(tmp_path):
    marked = "# -*- coding: latin-1 -*-\nx = 'e'\ny = «a / n»\n"
    case = case_of(tmp_path, marked, "division_by_zero")
    path = tmp_path / "train.py"
    path.write_bytes(path.read_bytes().replace(b"'e'", b"'\xe9'"))
    (only,) = instrument.patched(case.files, propose.candidates(case)[0]).values()
    assert b"'\xe9'" in only.data


def test_a_byte_order_mark_survives(tmp_path):
    case = case_of(tmp_path, "import torch\ny = «a / n»\n", "division_by_zero")
    path = tmp_path / "train.py"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    text = patched(case, propose.candidates(case)[0]).encode()
    assert text.startswith(b"\xef\xbb\xbfimport torch\n")


# -------------------------------------------------------------------------- comments
LONG = """\
def f(g):
    return torch.log(1.0) * (
        «torch.sqrt(  # the length
            # of each
            g.pow(2)  # squares
            .sum(dim=1)
        )»  # per row
    )
"""


def test_comments_of_what_is_replaced_go_above_the_statement(tmp_path):
    saved = tensor("saved result", saved="result")
    found = body(tmp_path, LONG, "sqrt_gradient_at_zero", saved, phase="backward")
    assert found == (
        "def f(g):\n    # the length\n    # of each\n    # squares\n    # per row\n"
        "    return torch.log(1.0) * torch.linalg.vector_norm(g, dim=1)\n"
    )
    windows = LONG.replace("\n", "\r\n").replace("    ", "\t")
    found = body(tmp_path, windows, "sqrt_gradient_at_zero", saved, phase="backward")
    assert found.startswith("def f(g):\r\n\t# the length\r\n\t# of each\r\n\t# squares\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if ok: y = «torch.log(  # why\n  x.softmax(1))»\n",
         "# why\nif ok: y = torch.log_softmax(x, dim=1)\n"),
        ("if («torch.log(  # why\n  x.softmax(1))» > 0).any():\n    pass\n",
         "# why\nif (torch.log_softmax(x, dim=1) > 0).any():\n    pass\n"),
        ("if a:\n    pass\nelif «x.softmax(  # why\n    1).log()».any():\n    pass\n",
         "if a:\n    pass\n# why\nelif torch.log_softmax(x, dim=1).any():\n    pass\n"),
        ("@wrap(1)\n@wrap(«torch.log(  # why\n  x.softmax(1))»)\ndef f(): ...\n",
         "@wrap(1)\n# why\n@wrap(torch.log_softmax(x, dim=1))\ndef f(): ...\n"),
        ("y = [\n  «torch.log(  # '#1' why\n  x.softmax(1))» for x in '# no'\n]\n",
         "# '#1' why\ny = [\n  torch.log_softmax(x, dim=1) for x in '# no'\n]\n"),
        ("y = «torch.log(  # why\n  torch.softmax((\n    a  # left\n    + b), 1))»\n",
         "# why\ny = torch.log_softmax((\n    a  # left\n    + b), dim=1)\n"),
    ],
)  # fmt: skip
def test_comments_of_statements_of_all_kinds(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = -(torch.exp(a) / «torch.exp(s)».sum(dim=1)).log().mean()",
         "y = -(a - torch.logsumexp(s, dim=1)).mean()"),
        ("def f(s, a):\n    d = «torch.exp(s)».sum(1)[:-1]\n    return torch.log(a.exp() / d)\n",
         "def f(s, a):\n    return a - torch.logsumexp(s, dim=1)[:-1]\n"),
        ("y = torch.log(«torch.exp(a - b)» / x.exp().sum(1))[0]",
         "y = ((a - b) - torch.logsumexp(x, dim=1))[0]"),
    ],
)  # fmt: skip
def test_a_logarithm_of_a_quotient_of_exponentials(tmp_path, before, after):
    assert body(tmp_path, before, "exp_overflow") == after


def test_an_exponential_that_is_used_elsewhere_is_not_lost_in_a_logarithm(tmp_path):
    lines = "def f(x):\n    e = «x.exp()»\n    return torch.log(e.sum(1)), e\n"
    assert "logsumexp" not in body(tmp_path, lines, "exp_overflow")


# -------------------------------------------------------------------------- order, and no patch
def test_what_hides_the_fault_comes_last_and_is_called_so(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    found = propose.candidates(case)
    assert not found[0].workaround
    assert [c.id for c in found if c.workaround] == ["replace_not_finite"]
    assert found[-1].workaround


def test_a_statement_has_no_value_to_replace(tmp_path):
    case = case_of(tmp_path, HEAD + "«opt.step()»\n", "float_overflow", step=0)
    assert "replace_not_finite" not in [c.id for c in propose.candidates(case)]


def test_text_that_is_not_what_ran_is_not_patched(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    (tmp_path / "train.py").write_text(HEAD + "y = torch.log(q)")
    assert propose.candidates(case) == []
    assert "train.py:3 is not the text that ran" in propose.advice(case)


def test_every_candidate_is_python(tmp_path):
    marked = HEAD + "y = [«torch.log(p)» for p in q if (k := p) is not None]\n"
    for text in proposals(tmp_path, marked, "log_of_zero").values():
        compile(text, "train.py", "exec")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «x / x.norm(dim=1, keepdim=True)»", "y = F.normalize(x, dim=1)"),
        ("y = «x / torch.norm(x, 2, -1, True)»", "y = F.normalize(x, dim=-1)"),
        (
            "y = «x / x.pow(2).sum(-1, keepdim=True).sqrt()»",
            "y = F.normalize(x, dim=-1)",
        ),
        (
            "def f(x):\n    n = x.norm(dim=1, keepdim=True)\n    return «x / n»\n",
            "def f(x):\n    return F.normalize(x, dim=1)\n",
        ),
    ],
)
def test_a_direction(tmp_path, before, after):
    assert body(tmp_path, before, "division_by_zero", SIZES) == after


@pytest.mark.parametrize(
    "line",
    [
        "y = «x / x.norm(dim=1)»",
        "y = «x / x.norm(1, dim=1, keepdim=True)»",
        "y = «x / z.norm(dim=1, keepdim=True)»",
    ],
)
def test_what_is_no_direction_is_not_normalized(tmp_path, line):
    assert "normalize" not in proposals(tmp_path, HEAD + line, "division_by_zero", SIZES)


@pytest.mark.parametrize("cause", ["cancellation", "sqrt_of_negative"])
@pytest.mark.parametrize(
    "lines",
    [
        "q = (a * a).sum(1)\ng = q[:, None] + q[None, :] - 2 * a @ a.T\nd = «torch.sqrt(g)»\n",
        "q = (a * a).sum(1)\nd = «(q[:, None] + q - 2 * (a @ a.t())).sqrt()»\n",
    ],
)
def test_distances_of_all_pairs(tmp_path, cause, lines):
    found = proposals(tmp_path, HEAD + lines, cause, tensor(at_index=[-1e-6], negatives=1))
    assert found["cdist"].endswith("d = torch.cdist(a, a)\n")
    assert next(iter(found)) == "cdist"


def test_what_only_a_few_values_say_to_be_a_count_has_to_be_seen(tmp_path):
    """Soft assignments add up to whole numbers while they are sharp."""
    few = tensor("other", name="q.sum(0)", at_index=[0.0], healthy=[12.0, 38.0])
    case = case_of(tmp_path, HEAD + "y = «a / q.sum(0)»", "division_by_zero", few)
    best = propose.candidates(case)[0]
    assert "clamp(min=1)" in patched(case, best) and best.count == "q.sum(0)"
    case = case_of(tmp_path, HEAD + "y = «a / (q > 0).sum(0)»", "division_by_zero", few)
    assert propose.candidates(case)[0].count == ""
