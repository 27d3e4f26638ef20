"""What is known of functions by the name they are called by in the source: torch's, and tensors'.

    pure         gives the same values for the same operands, draws nothing, writes to nothing
    elementwise  the element of the result belongs to the one of the operand at the same place
    divides      the second operand is a divisor, or stands under a logarithm
    never_zero   of finite operands it is zero only by underflow
    casts        to another type
    creates      makes a tensor that the program did not compute
    moves        gives elements of its operand at other places
    repeatable   besides: may be done a second time at another place without harm
    harmless     may be done twice at the same place, and is not to be moved
    allocates    takes memory without writing it

What moves is repeatable, and all of both is harmless. A function stands once, in the group of all
its traits. Nothing but data, for whoever reads source text; it needs no torch. The build installs
it as nanscope.telling.functions.

Of what a graph calls (functions, methods, ops) a part of the name must do: `is_called_like`. It is
asked where a name too many costs little, and one too few makes a replay wrong.

    draws        random numbers
    allocates    may take memory without writing it
    talks        to other ranks
    divides      a division, or one inside it
    writes       to what it is given, besides what its name says
"""

from __future__ import annotations

import re

# The traits of a group, then, further in, the names of its functions.
_GROUPS = """
pure
    absolute addmm baddbmm broadcast_to cosine_similarity cumprod dim dot expand_as
    full_like isinf isnan item linear logical_not mv normalize pairwise_distance
pure elementwise
    clamp_max clamp_min clip clone erf hypot lerp log10 log2 log_softmax multiply
    nan_to_num negative reciprocal softplus subtract tan
pure elementwise divides
    divide true_divide
pure elementwise divides repeatable
    div
pure elementwise never_zero
    exp2
pure elementwise never_zero repeatable
    exp sigmoid softmax
pure elementwise casts
    bfloat16 type
pure elementwise casts repeatable
    float
pure elementwise casts harmless
    double half to
pure elementwise moves
    contiguous
pure elementwise repeatable
    abs clamp detach expm1 log log1p mul neg pow relu sqrt square sub tanh
pure elementwise harmless
    add cos masked_fill maximum minimum rsqrt sign sin
pure moves
    flatten narrow permute reshape select squeeze t transpose unsqueeze view
pure repeatable
    mean norm prod size sum vector_norm
pure harmless
    amax amin bmm cat cumsum diag diagonal einsum expand isfinite logsumexp matmul mm
    numel ones_like outer repeat stack std tril triu var where zeros_like
divides
    fmod remainder xlogy
creates
    Parameter as_tensor from_numpy full linspace rand randint randn tensor
creates repeatable
    arange
creates harmless
    eye ones zeros
allocates
    empty empty_like empty_permuted empty_strided new_empty new_empty_strided
moves
    gather index_select masked_select take_along_dim
repeatable
    len long
harmless
    all any cdist corrcoef cov diag_embed isneginf max min type_as
"""


def _read() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    traits: frozenset[str] = frozenset()
    for line in _GROUPS.splitlines():
        if line.startswith(" "):
            found.update(dict.fromkeys(line.split(), traits))
        else:
            traits = frozenset(line.split())
    return found


FUNCTIONS = _read()


def functions_that(*traits: str) -> frozenset[str]:
    """The names of those with one of these traits."""
    return frozenset(name for name, known in FUNCTIONS.items() if known.intersection(traits))


_PARTS_OF_NAMES = {
    "draws": r"rand|dropout|bernoulli|normal(?!iz)|multinomial|exponential|uniform|cauchy|"
    r"geometric|poisson|binomial|gamma|dirichlet|gumbel|rrelu|scaled_dot_product|multi_head|"
    r"lstm|gru|rnn_(tanh|relu)",
    "allocates": r"empty",
    "talks": r"c10d|distributed|all_reduce|all_gather|reduce_scatter|all_to_all",
    "divides": r"(?i:div|reciprocal|rsqrt|pow|normalize|similarity|renorm)",
    "writes": r"batch_norm|instance_norm|embedding|fused_moving|setitem|delitem",
}


def is_called_like(trait: str, name: str) -> bool:
    """Whether something of this name may have the trait."""
    return re.search(_PARTS_OF_NAMES[trait], name) is not None
