"""Some hundred births, each in its own call: every family of ops, type, size, layout and form.

    nanscope run --strict birth_cases.py

--strict raises at every birth that nobody declared, so each case here must raise, and say which op
it was. Prints one JSON object: case -> the op that was named, or null.
"""

from __future__ import annotations

import json
import sys

import numpy
import torch
import torch.nn.functional as F

import nanscope

torch.set_num_threads(1)
named: dict[str, str | None] = {}

FLOATS = {
    "float32": torch.float32,
    "float64": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}
SMALL, LARGE = 8, 300_000


def case(name: str, act) -> None:
    try:
        act()
        named[name] = None
    except nanscope.NonFiniteError as error:
        named[name] = error.finding.origin.op


def laid_out(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values, one dimension, in another place of memory."""
    if layout == "strided":
        return torch.stack([x, torch.ones_like(x)], 1)[:, 0]
    if layout == "offset":
        return torch.cat([torch.ones(3, dtype=x.dtype), x])[3:]
    if layout == "matrix":
        return x.reshape(2, -1).t()
    return x


def ordinary(size: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.linspace(0.5, 1.5, size, dtype=torch.float64).to(dtype)


def with_one(size: int, dtype: torch.dtype, value: float) -> torch.Tensor:
    """Ordinary numbers, and one that is not."""
    x = ordinary(size, dtype)
    x[size // 2] = value
    return x


def most(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).max


# ---------------------------------------------------------------- one operand, in place or not
UNARY = {
    "log": 0.0,
    "log2": 0.0,
    "log10": 0.0,
    "log1p": -1.0,
    "sqrt": -1.0,
    "rsqrt": 0.0,
    "reciprocal": 0.0,
    "exp": 2000.0,
    "exp2": 4000.0,
    "expm1": 2000.0,
    "acos": 2.0,
    "asin": -2.0,
    "atanh": 1.0,
    "acosh": 0.0,
    "sinh": 2000.0,
    "cosh": 2000.0,
    "logit": 0.0,
    "erfinv": 1.0,
    "lgamma": 0.0,
    "digamma": 0.0,
}


def unary() -> None:
    for op, value in UNARY.items():
        for word, dtype in FLOATS.items():
            for size in (SMALL, LARGE) if word == "float32" else (SMALL,):
                x = with_one(size, dtype, value)
                case(f"{op} {word} {size}", lambda x=x, op=op: getattr(x, op)())
                case(f"{op}_ {word} {size}", lambda x=x, op=op: getattr(x.clone(), op + "_")())
    for layout in ("strided", "offset", "matrix"):
        for size in (SMALL, LARGE):
            for op in ("log", "sqrt", "reciprocal"):
                x = laid_out(with_one(size, torch.float32, UNARY[op]), layout)
                case(f"{op} {layout} {size}", lambda x=x, op=op: getattr(x, op)())
                case(f"{op}_ {layout} {size}", lambda x=x, op=op: getattr(x, op + "_")())


# ------------------------------------------------------------------------------- two operands
def binary() -> None:
    for word, dtype in FLOATS.items():
        one, big = ordinary(SMALL, dtype), with_one(SMALL, dtype, most(dtype))
        zero = with_one(SMALL, dtype, 0.0)
        case(f"div {word}", lambda one=one, zero=zero: one / zero)
        case(f"div_ {word}", lambda one=one, zero=zero: one.clone().div_(zero))
        case(f"div by a number {word}", lambda one=one: one / 0.0)
        case(f"div overflows {word}", lambda big=big: big / 0.25)
        case(f"mul {word}", lambda big=big: big * big)
        case(f"mul by a number {word}", lambda big=big: big * 2.0)
        case(f"mul_ {word}", lambda big=big: big.clone().mul_(2.0))
        case(f"add {word}", lambda big=big: big + big)
        case(f"add_ {word}", lambda big=big: big.clone().add_(big))
        case(f"add with alpha {word}", lambda big=big, one=one: one.add(big, alpha=4))
        case(f"sub {word}", lambda big=big: big - (-big))
        case(f"pow {word}", lambda big=big: big**2)
        case(f"pow negative {word}", lambda zero=zero: zero**-1.0)
        case(f"square {word}", lambda big=big: big.square())
        if word != "float16":  # computed in float
            case(f"lerp {word}", lambda big=big: (-big).lerp(big, 0.5))
        case(f"addcmul {word}", lambda big=big: big.addcmul(big, big))
        case(f"addcdiv {word}", lambda one=one, zero=zero: one.addcdiv(one, zero))
        case(f"addcdiv_ {word}", lambda one=one, zero=zero: one.clone().addcdiv_(one, zero))
        case(f"fmod {word}", lambda one=one, zero=zero: one.fmod(zero))
        case(f"remainder {word}", lambda one=one, zero=zero: one.remainder(zero))
        out = torch.empty(SMALL, dtype=dtype)
        case(f"out= {word}", lambda one=one, zero=zero, out=out: torch.div(one, zero, out=out))
    case("hypot", lambda: torch.hypot(*[with_one(SMALL, torch.float32, 3e38)] * 2))
    case("xlogy", lambda: torch.xlogy(torch.ones(SMALL), with_one(SMALL, torch.float32, 0.0)))
    case("broadcast", lambda: torch.ones(500, 1) / with_one(600, torch.float32, 0.0))


# --------------------------------------------------------------------------------- reductions
def reductions() -> None:
    for word, dtype in FLOATS.items():
        big = torch.full((SMALL,), most(dtype), dtype=dtype)
        for op in ("sum", "mean", "prod", "norm", "cumsum", "cumprod", "var", "std"):
            if op in ("mean", "var", "std") and word in ("float16", "bfloat16"):
                continue  # computed in float
            if op == "norm" and word == "float64":
                continue  # the norm is scaled
            dims = (0,) if op.startswith("cum") else ()
            case(f"{op} {word}", lambda big=big, op=op, dims=dims: getattr(big, op)(*dims))
    case("mean of nothing", lambda: torch.ones(0).mean())
    case("var of one", lambda: torch.ones(4, 1).var(1))
    case("softmax of a masked row", lambda: masked_row().softmax(-1))
    case("log_softmax of a masked row", lambda: masked_row().log_softmax(-1))
    case("logsumexp", lambda: torch.logsumexp(torch.full((4, 4), 3e38) * 1.0 + 3e38, 0))
    case("cross_entropy of ignored", lambda: ignored_everywhere())
    case("dist", lambda: torch.dist(torch.full((4,), 3e38), torch.full((4,), -3e38)))


def masked_row() -> torch.Tensor:
    return torch.ones(4, 4).masked_fill(torch.ones(4, 4, dtype=torch.bool), float("-inf"))


def ignored_everywhere() -> torch.Tensor:
    return F.cross_entropy(torch.randn(4, 5), torch.full((4,), -100))


# ------------------------------------------------------------------- products and convolutions
def products() -> None:
    for word, dtype in FLOATS.items():
        n = 12
        a = torch.full((n, n), most(dtype) ** 0.5 * 2, dtype=dtype)
        case(f"mm {word}", lambda a=a: a @ a)
        case(f"mv {word}", lambda a=a: a @ a[0])
        case(f"bmm {word}", lambda a=a: a[None] @ a[None])
        case(f"addmm {word}", lambda a=a: torch.addmm(a, a, a))
        case(f"linear {word}", lambda a=a: F.linear(a, a, a[0]))
        case(f"mm transposed {word}", lambda a=a: a.t() @ a.t())
    big = torch.full((200, 300), 1e30)
    case("mm large", lambda: big @ big.t())
    case("dot", lambda: big[0].dot(big[0]))
    case("einsum", lambda: torch.einsum("ij,kj->ik", big, big))
    image, weight = torch.full((1, 3, 9, 9), 1e30), torch.full((4, 3, 3, 3), 1e30)
    case("conv2d", lambda: F.conv2d(image, weight))
    case("conv1d", lambda: F.conv1d(image[0, :, 0], weight[:, :, 0]))
    case("conv_transpose2d", lambda: F.conv_transpose2d(image, weight.transpose(0, 1)))
    q = torch.full((1, 2, 8, 4), 1e30)
    case("attention", lambda: F.scaled_dot_product_attention(q, q, q))
    case("inverse", lambda: torch.linalg.inv_ex(torch.zeros(3, 3)).inverse)
    recurrent = torch.nn.RNN(4, 4, nonlinearity="relu")
    with torch.no_grad():
        for parameter in recurrent.parameters():
            parameter.fill_(1)
    case("recurrent", lambda: recurrent(torch.full((2, 3, 4), 3e38)))


# ------------------------------------------------------------------------------ normalisation
def normalisation() -> None:
    big = torch.linspace(1e30, 3e30, 64).view(2, 4, 8)
    case("layer_norm", lambda: F.layer_norm(big, (8,), eps=0.0))
    case("layer_norm of a constant", lambda: F.layer_norm(torch.ones(2, 8), (8,), eps=0.0))
    zero, minus = torch.zeros(4), torch.full((4,), -1.0)
    case("batch_norm", lambda: F.batch_norm(big, zero, minus))
    case("group_norm", lambda: F.group_norm(big, 2))
    case("normalize", lambda: torch.zeros(3) / torch.zeros(3).norm())


# ------------------------------------------------------------------- types that shrink, copies
def casts() -> None:
    case("to half", lambda: with_one(SMALL, torch.float32, 1e5).half())
    case("to bfloat16", lambda: with_one(SMALL, torch.float32, 3.4e38).bfloat16())
    case("to float", lambda: with_one(SMALL, torch.float64, 1e300).float())
    case("int to half", lambda: torch.tensor([70_000]).half())
    half = torch.zeros(SMALL, dtype=torch.half)
    case("copy_ to half", lambda: half.copy_(with_one(SMALL, torch.float32, 1e5)))
    case("index_put accumulates", lambda: accumulates(torch.full((2,), 3e38)))
    case("index_add", lambda: full().index_add(0, torch.zeros(4, dtype=torch.long), full()))
    case("scatter_add", lambda: full().scatter_add(0, torch.zeros(4, dtype=torch.long), full()))
    case("scatter_reduce", lambda: reduced(full()))


def full() -> torch.Tensor:
    return torch.full((4,), 3e38)


def accumulates(x: torch.Tensor) -> None:
    x.index_put_((torch.tensor([0, 0]),), torch.full((2,), 3e38), accumulate=True)


def reduced(x: torch.Tensor) -> torch.Tensor:
    return x.scatter_reduce(0, torch.zeros(4, dtype=torch.long), x, "prod")


# ----------------------------- ops that are passed over only while what goes in is known finite
BOUNDED = {
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "sin": torch.sin,
    "cos": torch.cos,
    "softmax": lambda x: x.softmax(-1),
}


def bounded() -> None:
    for name, op in BOUNDED.items():
        for size in (SMALL, LARGE):
            of_minus_infinity(f"{name} {size}", op, size)


def of_minus_infinity(name: str, op, size: int) -> None:
    """Declared, from outside, and written behind torch's back."""
    minus = float("-inf")
    made = ordinary(size, torch.float32)
    mask = torch.ones(size, dtype=torch.bool)
    foreign = numpy.full(size, minus, dtype=numpy.float32)
    written = made * 1.0
    written.numpy()[:] = minus
    case(f"{name} of a mask", lambda: op(made.masked_fill(mask, minus)))
    case(f"{name} of NumPy", lambda: op(torch.from_numpy(foreign)))
    case(f"{name} of written by NumPy", lambda: op(written))
    case(f"{name} of a fill", lambda: op((made * 1.0).fill_(minus)))


# ------------------------------------------------------------------------- list ops and complex
def lists() -> None:
    ones = [torch.ones(3), torch.ones(2, 2)]
    zeros = [torch.zeros(3), torch.zeros(2, 2)]
    big = [torch.full((3,), 3e38), torch.full((2, 2), 3e38)]
    case("foreach div", lambda: torch._foreach_div(ones, zeros))
    case("foreach log", lambda: torch._foreach_log(zeros))
    case("foreach reciprocal_", lambda: torch._foreach_reciprocal_([z.clone() for z in zeros]))
    case("foreach add", lambda: torch._foreach_add(big, big))
    case("foreach mul_", lambda: torch._foreach_mul_([b.clone() for b in big], 2.0))
    case("foreach addcdiv_", lambda: torch._foreach_addcdiv_(clones(ones), ones, zeros))
    case("foreach addcmul_", lambda: torch._foreach_addcmul_(clones(big), big, big))
    case("foreach pow", lambda: torch._foreach_pow(big, 2.0))
    case("foreach norm", lambda: torch._foreach_norm([torch.full((3,), 3e38)]))
    z = torch.zeros(4, dtype=torch.complex64)
    case("complex reciprocal", lambda: z.reciprocal())
    case("complex div", lambda: (z + 1) / z)
    case("complex mul", lambda: (z + 3e38) * (z + 3e38))
    case("complex abs", lambda: (z + complex(3e38, 3e38)).abs())
    case("complex128 exp", lambda: (z.to(torch.complex128) + 1000).exp())
    case("fft", lambda: torch.fft.fft(torch.full((8,), 3e38)))


def clones(tensors: list) -> list:
    return [t.clone() for t in tensors]


# ----------------------------------------------------------------------------------- backward
def backward() -> None:
    zero = torch.zeros(5, requires_grad=True)
    one = torch.ones(5, requires_grad=True)
    formulas = {
        "sqrt": (zero, torch.sqrt),
        "where": (zero, lambda x: torch.where(x > 0, x.sqrt(), x)),
        "pow": (zero, lambda x: x**0.1),
        "acos": (one, torch.acos),
        "norm of differences": (zero, lambda x: (x - x.detach()).abs().pow(0.5)),
        "atan2": (zero, lambda x: torch.atan2(x, x)),
        "std": (one, lambda x: x.std()),
        "mul overflows": (one, lambda x: x * 1e30 * 1e-10 * 1e30 * 1e-20),
    }
    for name, (leaf, formula) in formulas.items():
        case(f"backward of {name}", lambda f=formula, x=leaf: f(x).sum().backward())
    x = torch.ones(4, 4, requires_grad=True)
    case("backward of mm", lambda: ((x @ torch.full((4, 4), 1e25)) * 1e20).sum().backward())


# --------------------------------------------------------------------------------- optimizers
def optimizers() -> None:
    kinds = {
        "SGD": (torch.optim.SGD, {"momentum": 0.9}),
        "Adam": (torch.optim.Adam, {}),
        "AdamW": (torch.optim.AdamW, {"weight_decay": 0.1}),
        "Adagrad": (torch.optim.Adagrad, {}),
        "RMSprop": (torch.optim.RMSprop, {}),
    }
    for name, (kind, options) in kinds.items():
        forms = [{"foreach": False}, {"foreach": True}]
        if name in ("SGD", "Adam", "AdamW", "Adagrad"):
            forms.append({"fused": True})
        for form in forms:
            for size in (4, 5000):
                word = next(iter(form)) if next(iter(form.values())) else "loop"
                given = {**options, **form}
                case(f"{name} {word} {size}", lambda k=kind, g=given, s=size: step(k, g, s))


def step(kind, options: dict, size: int) -> None:
    """A gradient that is finite, and too large for what the optimizer does with it."""
    parameter = torch.nn.Parameter(torch.ones(size))
    optimizer = kind([parameter], lr=4.0, **options)
    parameter.grad = torch.full((size,), 3e38)
    optimizer.step()
    parameter.grad = torch.full((size,), 3e38)
    optimizer.step()


# ---------------------------------------------------------------- float8
BEYOND = {  # the cast to float8_e4m3fn stops at its largest number
    "float8_e5m2": 1e5,
    "float8_e4m3fnuz": 300.0,
    "float8_e5m2fnuz": 1e5,
    "float8_e8m0fnu": 3e38,
}


def float8() -> None:
    for kind, beyond in BEYOND.items():
        to = getattr(torch, kind)
        for size in (1, 3, SMALL, LARGE):
            good = ordinary(size, torch.float32)
            bad = with_one(size, torch.float32, beyond)
            case(f"to {kind} {size}", lambda x=bad, t=to: x.to(t))
            target = good.to(to)
            case(f"copy_ to {kind} {size}", lambda x=bad, y=target: y.copy_(x))
        for layout in ("strided", "offset", "matrix"):
            x = laid_out(with_one(SMALL, torch.float32, beyond), layout)
            case(f"to {kind} {layout}", lambda x=x, t=to: x.to(t))
        every_second = torch.ones(2 * SMALL).to(to)[::2]
        bad = with_one(SMALL, torch.float32, beyond)
        case(f"copy_ to {kind} with gaps", lambda x=bad, y=every_second: y.copy_(x))
        case(f"double to {kind}", lambda x=bad, t=to: x.double().to(t))
        one = torch.tensor(beyond)
        case(f"to {kind} of one number", lambda x=one, t=to: x.to(t))
    wide = torch.full((4, 8), 200.0)
    narrow = wide.to(torch.float8_e5m2)
    case("mm float8_e5m2", lambda: narrow @ narrow.t())
    fnuz = wide.to(torch.float8_e4m3fnuz)
    case("mul float8_e4m3fnuz", lambda: fnuz * fnuz)
    case("half to float8_e5m2", lambda: torch.tensor([65504.0]).half().to(torch.float8_e5m2))
    case("uint8 to float8_e4m3fnuz", lambda: torch.tensor([255]).byte().to(torch.float8_e4m3fnuz))
    case("int16 to float8_e4m3fnuz", lambda: torch.tensor([300]).short().to(torch.float8_e4m3fnuz))
    powers = torch.full((300_000,), 2.0**100).to(torch.float8_e8m0fnu)
    case("float8_e8m0fnu to half", lambda: powers.half())
    # Known as small bfloat16 (0x3af0), read as other numbers: 2^113 and 2^-69.
    small = torch.full((300_000,), 0.0018310546875, dtype=torch.bfloat16) * 1
    case("bits of bfloat16 as powers", lambda: small.view(torch.float8_e8m0fnu).float() * 1e5)


for family in (
    unary,
    binary,
    reductions,
    products,
    normalisation,
    casts,
    bounded,
    lists,
    float8,
    backward,
    optimizers,
):
    family()
sys.stdout.write(json.dumps(named))
