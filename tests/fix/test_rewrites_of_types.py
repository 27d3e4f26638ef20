"""Half precision, float8, loss scales and memory: text in, text out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proposing import HEAD, body, case_of, patched, proposals, tensor

from nanscope.findings import HarmDone
from nanscope.fix.patch import propose
from nanscope.fix.patch.case import Case


# -------------------------------------------------------------------------- half precision, memory
def test_half_precision(tmp_path):
    half = tensor(dtype="float16")
    assert body(tmp_path, "h = «a + b»", "half_overflow", half) == "h = a.float() + b.float()"
    found = proposals(tmp_path, HEAD + "h = «a + b»", "half_overflow", half)
    assert found["saturate_in_half"].endswith(
        "h = (a.float() + b.float()).clamp(-65504.0, 65504.0).to(torch.float16)"
    )
    assert body(tmp_path, "n = «m.half()»", "half_overflow", tensor()) == "n = m"
    case = case_of(tmp_path, HEAD + "e = «(h * h).sum(dim=1)»", "half_overflow", half)
    found = [(patched(case, c).removeprefix(HEAD), c.workaround) for c in propose.candidates(case)]
    assert found[:2] == [
        ("e = (h * h).float().sum(dim=1)", False),
        ("e = (h.float() * h.float()).sum(dim=1)", False),
    ]
    assert all(workaround for _, workaround in found[2:])
    assert body(tmp_path, "i = «(v + 1e-12).pow(-0.5)»", "eps_underflow", half) == (
        "i = (v + 1e-7).pow(-0.5)"
    )


def test_a_guard_that_vanishes_is_raised_where_it_is_set(tmp_path):
    half = tensor("other", dtype="float16")
    norm = "def f(x, v, eps=1e-8):\n    return «x / torch.sqrt(v + eps)»"
    assert body(tmp_path, norm, "eps_underflow", half).startswith("def f(x, v, eps=1e-5):")
    own = "class N:\n    def f(self, x, v):\n        return «x / torch.sqrt(v + self.eps)»"
    found = proposals(tmp_path, HEAD + own, "eps_underflow", half)
    assert "v + max(self.eps, torch.finfo(torch.float16).tiny)" in found["raise_eps"]
    assert "torch.sqrt((v + self.eps).clamp(min=1e-7))" in found["clamp_before_sqrt"]
    # Behind the root its slope would still be infinite.
    assert list(found).index("clamp_before_sqrt") < list(found).index("clamp_divisor")


END = "torch.finfo(torch.float8_e5m2).max"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "q = «(g * s).to(torch.float8_e5m2)»",
            f"q = (g * s).clamp(-{END}, {END}).to(torch.float8_e5m2)",
        ),
        ("«cache[i].copy_(g)»", f"cache[i].copy_(g.clamp(-{END}, {END}))"),
        ("q = «a @ b»", None),
    ],
)
def test_a_cast_to_float8_stops_at_its_end(tmp_path, before, after):
    case = case_of(tmp_path, HEAD + before, "eight_bit_overflow", tensor())
    case.finding = replace(case.finding, outputs=[tensor(dtype="float8_e5m2")])
    found = propose.first(case)
    assert (patched(case, found) if found else None) == (after and HEAD + after)


def test_a_product_is_scaled_before(tmp_path):
    half = tensor(dtype="float16")
    line = "s = «q @ k.transpose(-2, -1)» / math.sqrt(d)"
    after = "s = (q / math.sqrt(d)) @ k.transpose(-2, -1)"
    assert body(tmp_path, line, "half_overflow", half) == after
    assert body(tmp_path, line, "float_overflow", step=0) == after
    line = "s = «torch.bmm(q, k)» * self.scale + bias"
    after = "s = torch.bmm((q * self.scale), k) + bias"
    assert body(tmp_path, line, "half_overflow", half) == after


def test_autocast_is_left_for_one_op(tmp_path):
    half = tensor(dtype="float16")
    lines = "with torch.autocast('cpu'):\n\th = (\n\t\t«a @ b»  # scores\n\t)\n"
    assert body(tmp_path, lines, "half_overflow", half) == (
        "with torch.autocast('cpu'):\n"
        '\twith torch.autocast("cpu", enabled=False):\n'
        "\t\th = (\n\t\ta.float() @ b.float()  # scores\n\t)\n"
    )
    lines = "# autocast\nh = «self.net.head(x)»\n"
    case = case_of(tmp_path, HEAD + lines, "half_overflow", half)
    assert propose.first(case) is None  # no product: a module of the user's is left alone
    case.finding = replace(case.finding, origin=replace(case.origin, op="aten::addmm"))
    assert patched(case, propose.first(case)).endswith(
        'with torch.autocast("cpu", enabled=False):\n    h = self.net.head(x.float())\n'
    )


def test_a_loss_scale(tmp_path):
    found = body(tmp_path, "scale = «scale * 2»", "loss_scale_runaway")
    assert found == "scale = (scale * 2).clamp(max=2.0**24)"
    found = body(tmp_path, "if ok: «self.scale *= 2.0»  # grow", "loss_scale_runaway")
    assert found == "if ok: self.scale = (self.scale * 2.0).clamp(max=2.0**24)  # grow"
    lines = "scale = 65536.0\n(«loss * scale»).backward()\nscale *= 2  # more\n"
    found = body(tmp_path, lines, "float_overflow", tensor(name="loss"))
    assert found.endswith("scale = min(scale * 2, 2.0**24)  # more\n")
    found = body(tmp_path, lines, "float_overflow", tensor(name="scale"))
    assert found.endswith("scale = (scale * 2).clamp(max=2.0**24)  # more\n")
    halves = lines.replace("*= 2", "*= 0.5")
    assert "bound_loss_scale" not in proposals(tmp_path, HEAD + halves, "float_overflow")


@pytest.mark.parametrize(
    "lines",
    [
        "scaled = «total * s.scale»\nscaled.backward()\ns.scale *= 0x2\n",
        "class Scaler:\n    def up(self, loss):\n        return «loss * self.scale»\n"
        "    def update(self):\n        self.scale = self.scale * 2.0\n",
        "torch.autograd.backward(«total * scale»)\nscale *= 2\n",
    ],
)
def test_a_loss_scale_that_grows_elsewhere(tmp_path, lines):
    found = proposals(tmp_path, HEAD + lines, "float_overflow", tensor(name="loss"))
    assert "scale = min(" in found["bound_loss_scale"]


@pytest.mark.parametrize(
    "lines",
    [
        "for _ in range(200):\n    h = «h * 2.0»\n",
        "for _ in range(200):\n    h *= 2.0\n    y = «h * w»\ny.sum().backward()\n",
        "def grow(scale):\n    scale *= 2\n\n"
        "def step(loss, scale):\n    («loss * scale»).backward()\n",
        "class A:\n    def up(self):\n        self.scale *= 2\nclass B:\n"
        "    def up(self, loss):\n        return «loss * self.scale»\n",
    ],
)
def test_what_grows_is_no_loss_scale(tmp_path, lines):
    for cause in ("float_overflow", "half_overflow"):
        found = proposals(tmp_path, HEAD + lines, cause, tensor(name="h"))
        assert "bound_loss_scale" not in found


def test_values_that_are_equal(tmp_path):
    apart = "A + torch.eye(*A.shape[-2:]) * torch.linspace(0.0, 1e-6, A.shape[-1], dtype=A.dtype)"
    line, how = "w, v = «torch.linalg.eigh(A)»", {"phase": "backward"}
    found = body(tmp_path, line, "degenerate_decomposition", **how)
    assert found == f"w, v = torch.linalg.eigh({apart})"
    found = body(tmp_path, "u, s, v = «A.svd()»", "degenerate_decomposition", **how)
    assert found == f"u, s, v = ({apart}).svd()"


def test_memory(tmp_path):
    found = body(tmp_path, "b = «torch.empty(4, 2)»", "uninitialised_memory")
    assert found == "b = torch.zeros(4, 2)"
    found = body(tmp_path, "b = «x.new_empty(4)»", "uninitialised_memory")
    assert found == "b = x.new_zeros(4)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f(x, g):\n    p = «x.pow(2)».mean(-1, keepdim=True)\n"
            "    return x * torch.rsqrt(p + 1e-5) * g\n",
            "def f(x, g):\n    p = x.float().pow(2).mean(-1, keepdim=True)\n"
            "    return x * torch.rsqrt(p + 1e-5).to(x.dtype) * g\n",
        ),
        (
            "def f(x):\n    return x / ((«x * x»).sum() + 1e-5).sqrt()\n",
            "def f(x):\n    return x / ((x.float() * x.float()).sum() + 1e-5).sqrt().to(x.dtype)\n",
        ),
    ],
)
def test_squares_in_float32_and_the_root_in_the_narrow_type(tmp_path, before, after):
    large = tensor(dtype="float16", at_index=[300.0], max=300.0)
    assert body(tmp_path, before, "half_overflow", large) == after


def test_a_guard_whose_slope_does_not_fit(tmp_path):
    """1e-5 is a number of float16; the slope of its rsqrt is none."""
    half = tensor(name="v + 1e-8", dtype="float16", at_index=[0.0], healthy=[0.14, 0.18])
    case = case_of(tmp_path, HEAD + "y = «torch.rsqrt(v + 1e-8)»", "eps_underflow", half)
    assert propose.first(case).id == "raise_eps"
    harm = HarmDone("gradient", None, 3, "w")
    case = Case(replace(case.finding, harm=harm), {}, case.folder)
    found = [patched(case, c).removeprefix(HEAD) for c in propose.candidates(case)]
    assert found[0] == "y = torch.rsqrt((v + 1e-8).clamp(min=1e-4))"
