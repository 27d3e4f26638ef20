"""A finding as typed objects, with the fields of the JSON (docs/finding.schema.json)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T", bound="_Record")
Number = float | complex


class _Record:
    """Made from a dict of the JSON; keys of a newer schema are left aside."""

    @classmethod
    def from_json(cls: type[T], data: dict[str, Any]) -> T:
        kinds = get_type_hints(cls)
        known = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        values = {name: _read(kinds[name], data[name]) for name in known if name in data}
        return cls(**values)

    def __getitem__(self, key: str) -> Any:
        """As in the JSON: `finding["origin"]["site"]["line"]`."""
        if key not in {f.name for f in dataclasses.fields(self)}:  # type: ignore[arg-type]
            raise KeyError(key)
        return getattr(self, key)

    def to_json(self) -> dict[str, Any]:
        return {
            f.name: _write(getattr(self, f.name))
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
        }


@dataclass(frozen=True)
class Site(_Record):
    """Lines from 1, columns from 0 in characters, end exclusive."""

    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    code: str
    function: str
    remark: str = ""


@dataclass(frozen=True)
class Frame(_Record):
    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Origin(_Record):
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


@dataclass(frozen=True)
class HarmDone(_Record):
    kind: str
    site: Site | None
    step: int
    name: str | None
    text: str = ""


@dataclass(frozen=True)
class Link(_Record):
    """One step of the way: birth, carriers, where it did harm."""

    op: str
    site: Site
    phase: str
    role: str


@dataclass(frozen=True)
class TensorFacts(_Record):
    """An input or output of the operation."""

    name: str
    dtype: str
    shape: list[int]
    min: Number | None
    max: Number | None
    mean: Number | None
    zeros: int
    negatives: int
    subnormals: int
    nan: int
    pos_inf: int
    neg_inf: int
    at_index: list[Number] = field(default_factory=list)
    remark: str = ""
    argument: str = ""  # its name in the op's schema: self, other


@dataclass(frozen=True)
class Scalar(_Record):
    """An argument that is no tensor: eps, dim."""

    name: str
    value: str


@dataclass(frozen=True)
class Recomputed(_Record):
    """The failing elements, computed again in a wider type."""

    dtype: str
    values: list[Number]


@dataclass(frozen=True)
class Maker(_Record):
    """An operation that made an input of the one that failed."""

    node: str
    site: Site
    links_back: int
    tensors: list[TensorFacts]
    scalars: list[Scalar]


@dataclass(frozen=True)
class TrainingStep(_Record):
    """One step of the training before it."""

    step: int
    loss: Number | None
    gradient_norm: Number | None
    largest_parameter: Number | None
    update_ratio: Number | None
    learning_rate: Number | None
    loss_scale: Number | None


@dataclass(frozen=True)
class Magnitude(_Record):
    """The largest value at one place of the failing step."""

    name: str
    largest: Number
    gradient: bool


@dataclass(frozen=True)
class OtherCause(_Record):
    id: str
    why_not: str


@dataclass(frozen=True)
class Cause(_Record):
    id: str
    certainty: str
    sentence: str
    evidence: list[str]
    others: list[OtherCause] = field(default_factory=list)
    to_blame: str = ""


@dataclass(frozen=True)
class Fix(_Record):
    id: str
    diff: str
    files: list[str]
    explanation: str
    changes_training: bool
    workaround: bool = False
    applied: bool = False


@dataclass(frozen=True)
class Verification(_Record):
    status: str
    steps: int
    healthy_steps_unchanged: bool | None
    detail: str = ""
    checks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Finding(_Record):
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


def _read(kind: Any, value: Any) -> Any:
    """A value of the JSON as its type says: objects, lists of them, numbers spelled as text."""
    options = get_args(kind)
    if isinstance(value, dict):
        records = [k for k in (kind, *options) if isinstance(k, type) and issubclass(k, _Record)]
        return records[0].from_json(value) if records else value
    if isinstance(value, list):
        return [_read(options[0], item) for item in value] if options else value
    if isinstance(value, str) and complex in options:
        if value == "nan":
            return math.nan  # one for all, so that equal findings are equal
        return complex(value) if value.endswith("j") else float(value)
    return value


def _write(value: Any) -> Any:
    if isinstance(value, _Record):
        return value.to_json()
    if isinstance(value, list):
        return [_write(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, complex):
        return str(value).strip("()")
    return value
