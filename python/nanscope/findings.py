"""A report and its findings as typed objects, with the fields of docs/finding.schema.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from json import JSONDecoder  # not json.loads: a program may have replaced it by now

from nanscope.json_object import JsonObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope import _core

Number = float | complex


@dataclass(frozen=True)
class Site(JsonObject):
    """Lines from 1, columns from 0 in characters, end exclusive."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    code: str
    function: str
    remark: str = ""
    source: list[str] = field(default_factory=list)  # its lines, as they stood when it ran
    before: list[str] = field(default_factory=list)  # of an origin: the lines above
    after: list[str] = field(default_factory=list)  # and those below


@dataclass(frozen=True)
class Frame(JsonObject):
    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Giver(JsonObject):
    """What one rank gave into a collective."""

    rank: int
    nan: int
    pos_inf: int
    neg_inf: int


@dataclass(frozen=True)
class Message(JsonObject):
    """The way of a message between ranks, in ranks of its group."""

    sender: int | None  # None: it was received from whoever sent one
    receiver: int
    tag: int


@dataclass(frozen=True)
class Collective(JsonObject):
    """One call on all ranks of a group."""

    op: str
    group: str  # torch's own name of it; 0 is the default group
    way: str  # of a message: 1>0 tag 0, in ranks of the group; else empty
    sequence: int
    ranks: int
    givers: list[Giver]
    givers_known: bool  # every rank of the group could be asked
    bucket: int | None = None  # of DistributedDataParallel
    message: Message | None = None  # the way as values
    name: str = ""  # as torch.distributed calls it: all_reduce


@dataclass(frozen=True)
class Origin(JsonObject):
    """The first bad operation."""

    kind: str
    phase: str
    op: str
    node: str | None
    site: Site
    library_site: Site | None
    stack: list[Frame]
    module: str | None
    step: int
    rank: int | None
    worker: int | None
    output: int
    index: list[int] | None
    value: Number
    nan: int
    pos_inf: int
    neg_inf: int
    numel: int
    indices: list[list[int]] = field(default_factory=list)
    per_element: bool = False
    in_backward_code: bool = False
    collective: Collective | None = None  # received: the one that brought it


@dataclass(frozen=True)
class HarmDone(JsonObject):
    kind: str
    site: Site | None
    step: int
    name: str | None
    text: str = ""
    sentence: str = ""  # for a reader


@dataclass(frozen=True)
class Made(JsonObject):
    """What an op on the way gave. Of a large result the counts may not be known."""

    dtype: str
    shape: list[int]
    nan: int | None = None
    pos_inf: int | None = None
    neg_inf: int | None = None
    largest: float | None = None


@dataclass(frozen=True)
class Link(JsonObject):
    """One step of the way: birth, carriers, where it did harm."""

    op: str
    site: Site
    phase: str
    role: str
    made: Made | None = None
    parent: int | None = None  # of what was cleaned beside the way: the link it comes from


@dataclass(frozen=True)
class RankWay(JsonObject):
    """How a value went on on a rank that received it: told where many captures are told as one."""

    rank: int | None
    call: str  # that brought it: all_reduce number 5 of group 0
    chain: list[Link]
    chain_truncated: bool
    harm: HarmDone | None


@dataclass(frozen=True)
class Numbers:
    """Counts of many elements. Where none is finite there is no minimum, maximum and mean."""

    min: float | None
    max: float | None
    mean: float | None
    zeros: int
    negatives: int
    subnormals: int
    nan: int
    pos_inf: int
    neg_inf: int


@dataclass(frozen=True)
class Described:
    name: str
    dtype: str
    shape: Sequence[int]


@dataclass(frozen=True)
class Statistics(Numbers, Described):  # the fields of the last base come first
    """The numbers of an array."""


@dataclass(frozen=True)
class Counted:
    numel: int


@dataclass(frozen=True)
class Feeding(Numbers, Counted, JsonObject):
    """The numbers of what feeds the failing element: a row of a softmax."""


@dataclass(frozen=True)
class Exponents(JsonObject):
    """A histogram over powers of two; zeros, subnormals, Inf and NaN stand in no bin."""

    first: int  # the first bin begins at 2**first
    width: int  # powers of two in one bin
    bins: list[int]
    looked_at: int  # elements; of a large tensor a part


@dataclass(frozen=True)
class BadMap(JsonObject):
    """Where the non-finite elements lie in the last two dimensions."""

    rows: int
    columns: int
    cells: list[int]  # how many in each, row by row


@dataclass(frozen=True)
class TensorFacts(Statistics, JsonObject):
    """An input or output of the operation."""

    shape: list[int]
    at_index: list[Number] = field(default_factory=list)
    healthy: list[Number] = field(default_factory=list)  # others, from small to large: up to 32
    remark: str = ""
    argument: str = ""  # its name in the op's schema: self, other; saved self
    saved: str | None = None  # a backward node kept it since the forward, under this name
    parameter: bool = False  # a trained weight, or a view of one
    requires_grad: bool = False  # the training moves it
    device: str = "cpu"  # where it is
    feeding: Feeding | None = None
    exponents: Exponents | None = None
    bad_map: BadMap | None = None


@dataclass(frozen=True)
class Scalar(JsonObject):
    """An argument that is no tensor: eps, dim."""

    name: str
    value: str


@dataclass(frozen=True)
class Recomputed(JsonObject):
    """The failing elements, computed again in a wider type."""

    dtype: str
    values: list[Number]


@dataclass(frozen=True)
class Maker(JsonObject):
    """An operation that made an input of the one that failed."""

    node: str
    site: Site
    links_back: int
    tensors: list[TensorFacts]
    scalars: list[Scalar]


@dataclass(frozen=True)
class TrainingStep(JsonObject):
    """One step of the training before it."""

    step: int
    loss: float | None
    gradient_norm: float | None
    largest_parameter: float | None
    update_ratio: float | None
    learning_rate: float | None
    loss_scale: float | None


@dataclass(frozen=True)
class Magnitude(JsonObject):
    """The largest value at one place of the failing step."""

    name: str
    largest: float
    gradient: bool


@dataclass(frozen=True)
class OtherCause(JsonObject):
    """`shows`: it is true, and only how the cause showed."""

    id: str
    why_not: str
    shows: bool = False


@dataclass(frozen=True)
class TriedExperiment(JsonObject):
    """What was tried at the hit, and what the failing element was then."""

    what: str
    result: str
    exactly: float | None = None  # had the operand not been lost to rounding or underflow


@dataclass(frozen=True)
class Cause(JsonObject):
    id: str
    certainty: str
    sentence: str
    evidence: list[str]
    others: list[OtherCause] = field(default_factory=list)
    to_blame: str = ""
    title: str = ""
    experiments: list[TriedExperiment] = field(default_factory=list)
    evidence_of_experiments: list[str] = field(default_factory=list)  # told by both


@dataclass(frozen=True)
class Fix(JsonObject):
    id: str
    diff: str
    files: list[str]
    explanation: str
    changes_training: bool
    workaround: bool = False
    applied: bool = False


@dataclass(frozen=True)
class Verification(JsonObject):
    status: str
    steps: int
    healthy_steps_unchanged: bool | None
    detail: str = ""
    checks: list[str] = field(default_factory=list)
    first_loss: int = 0  # which of the run the two lists begin with
    losses_before: list[Number | None] = field(default_factory=list)  # without the patch
    losses_after: list[Number | None] = field(default_factory=list)


@dataclass(frozen=True)
class Forewarning(JsonObject):
    """What a warning is about, where nothing has happened yet."""

    name: str
    dtype: str
    value: float
    limit: float
    steps: int


@dataclass(frozen=True)
class Line(JsonObject):
    file: str
    line: int


@dataclass(frozen=True)
class OnlyCompiled(JsonObject):
    """How only the compiled form of a region comes to a value: eagerly it is finite."""

    kernel: str | None = None  # the first fused one that wrote such a value
    lines: list[Line] = field(default_factory=list)  # whose result it stores; else the region's
    rounded_to: str | None = None  # where eager rounds to this type the kernel keeps float32
    setting: str | None = None  # of torch._inductor.config: with it the region is finite
    setting_value: str | None = None


@dataclass(frozen=True)
class ModuleFacts(JsonObject):
    """A module of the model, with the largest absolute value of each kind."""

    path: str
    type: str
    activation: float | None = None  # of what its ops kept for the backward
    activation_dtype: str = ""
    weight: float | None = None  # of the parameters it owns itself
    gradient: float | None = None
    weight_dtype: str = ""


@dataclass(frozen=True)
class Finding(JsonObject):
    """What was found: an error, a warning or a note."""

    level: str
    origin: Origin
    harm: HarmDone | None
    chain: list[Link]
    chain_truncated: bool
    inputs: list[TensorFacts]
    outputs: list[TensorFacts]
    cause: Cause
    fix: Fix | None = None
    verification: Verification | None = None
    scalars: list[Scalar] = field(default_factory=list)
    count: int = 1
    recomputed: list[Recomputed] = field(default_factory=list)
    makers: list[Maker] = field(default_factory=list)
    history: list[TrainingStep] = field(default_factory=list)
    magnitudes: list[Magnitude] = field(default_factory=list)
    fate: str | None = None
    headline: str = ""  # for a reader: train.py:41:18: aten::log made -inf
    deed: str = ""  # the headline without the place
    inputs_left_out: int = 0
    forewarning: Forewarning | None = None
    only_compiled: OnlyCompiled | None = None
    undone: str | None = None  # how; it would be an error
    allowed: str | None = None  # why; it would be more than a note
    cleaned: list[Link] = field(default_factory=list)  # ops that made a part of it finite again
    cleaned_more: int = 0  # such places beyond those listed
    modules: list[ModuleFacts] = field(default_factory=list)
    modules_left_out: int = 0
    given: list[Collective] = field(default_factory=list)  # into which this rank gave it on
    received_by: list[RankWay] = field(default_factory=list)
    received_by_more: int = 0  # ranks beyond those listed


@dataclass(frozen=True)
class Program(JsonObject):
    """What was run, and how it ended."""

    argv: list[str]
    python: str
    torch: str
    mode: str
    pid: int
    host: str
    exit_status: int | None
    ended: str | None
    devices: list[str] = field(default_factory=list)
    seconds: float | None = None
    own_seconds: float | None = None


@dataclass(frozen=True)
class NotWatched(JsonObject):
    what: str
    why: str
    count: int


@dataclass(frozen=True)
class Intended(JsonObject):
    """A NaN or Inf that the program put there itself, such as the -inf of a mask."""

    op: str
    site: Site
    value: Number
    count: int
    fate: str  # what became of it


@dataclass(frozen=True)
class Coverage(JsonObject):
    ops_watched: int
    bytes_scanned: int
    steps: int
    not_watched: list[NotWatched]
    allowed: list[NotWatched] = field(default_factory=list)  # count 0: it was never needed
    intended: list[Intended] = field(default_factory=list)  # it did no harm
    intended_more: int = 0  # at places that are not listed


@dataclass(frozen=True)
class Report(JsonObject):
    """What one watched program gave: the whole of the JSON."""

    schema: str
    verdict: str
    program: Program
    findings: list[Finding]  # errors first, then warnings, then notes
    coverage: Coverage
    summary: str = ""  # in one line

    @classmethod
    def parse(cls, text: str) -> Report:
        return cls.from_json(JSONDecoder().decode(text))

    @classmethod
    def of(cls, capture: _core.Capture) -> Report:
        return cls.parse(capture.json())

    @property
    def first_error(self) -> Finding | None:
        return next((f for f in self.findings if f.level == "error"), None)

    def of_level(self, level: str) -> list[Finding]:
        return [finding for finding in self.findings if finding.level == level]
