"""Holds a finding with its source: what the rewrites read."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import cached_property

import libcst as cst

from nanscope.findings import Finding, Frame, Origin, Site, TensorFacts
from nanscope.fix.patch import operation, settings_file
from nanscope.fix.patch.operation import Operation
from nanscope.fix.patch.settings_file import SettingsFile
from nanscope.fix.patch.source_file import SourceFile

ORDINARY = 1e-2  # values of this size need no smaller eps than those of order one
NARROW = ("float16", "bfloat16")
# Small beside values of order one, and its reciprocal still far from the end of the type.
SMALL = {"float64": 1e-12, "float32": 1e-8, "float16": 1e-4, "bfloat16": 1e-6}
LARGEST = {"float64": 1.7e308, "float32": 3.4e38, "float16": 65504.0, "bfloat16": 3.3e38}


@dataclass
class Case:
    finding: Finding
    files: dict[str, SourceFile]  # by full path; more are read when a rewrite asks for them
    folder: str  # where the program was started: paths of the finding are relative to it
    main_file: str | None = None
    arguments: tuple[str, ...] = ()  # of the program
    given: bool = field(init=False)

    def __post_init__(self) -> None:
        self.given = bool(self.files)

    @property
    def cause(self) -> str:
        return self.finding.cause.id

    @property
    def origin(self) -> Origin:
        return self.finding.origin

    @property
    def is_other_text(self) -> bool:
        """Whether what ran is not the text on disk, nor one that we have put in its place."""
        return bool(self.origin.site.remark) and not self.given

    @property
    def backward(self) -> bool:
        """Whether its gradient failed. What a user's own `backward` computes failed by itself."""
        return self.origin.phase == "backward" and not self.origin.in_backward_code

    def offset(self, source: SourceFile, site: Site) -> int | None:
        """Where a site begins in a version of its file; None if it stands in another file."""
        if not site.file or os.path.realpath(os.path.join(self.folder, site.file)) != source.path:
            return None
        return source.offset(site.line, site.col) if site.line <= len(source.starts) else None

    def file(self, name: str) -> SourceFile | None:
        path = os.path.realpath(os.path.join(self.folder, name))
        if path not in self.files:
            try:
                self.files[path] = SourceFile.read(path)
            except (OSError, SyntaxError, UnicodeError, LookupError):
                return None
        return self.files[path]

    @cached_property
    def source(self) -> SourceFile | None:
        return self.file(self.origin.site.file)

    @cached_property
    def node(self) -> cst.CSTNode | None:
        if self.source is None:
            return None
        try:
            return operation.find(self.source, self.origin.site)
        except (cst.ParserSyntaxError, IndexError):
            return None

    @cached_property
    def operation(self) -> Operation | None:
        return operation.read(self.source, self.node) if self.node is not None else None

    @cached_property
    def sources(self) -> list[SourceFile]:
        """The user's own files on the stack, and the main one; where the failing one is, first."""
        origin, chain = self.origin, self.finding.chain
        places: list[Site | Frame] = [origin.site, *origin.stack, *(link.site for link in chain)]
        names = [place.file for place in places if place.file]
        if self.main_file:
            names.append(self.main_file)
        found: dict[str, SourceFile] = {}
        for name in names:
            source = self.file(name) if self._is_users(name) else None
            if source is not None:
                found.setdefault(source.path, source)
        return list(found.values())

    @cached_property
    def settings_files(self) -> list[SettingsFile]:
        """YAML and the like that the user's files, or the command line, name."""
        found = []
        for path in settings_file.named_in(self.sources, self.folder, self.arguments):
            try:
                if path not in self.files:
                    self.files[path] = SettingsFile.read(path)
            except (OSError, SyntaxError, UnicodeError):
                continue
            found.append(self.files[path])
        return found

    def _is_users(self, name: str) -> bool:
        from nanscope.telling.stack import is_user_code

        return is_user_code(os.path.join(self.folder, name), self.main_file)

    # ---------------------------------------------------------------- values that were seen
    def input(self, *arguments: str) -> TensorFacts | None:
        """Finds an input of the failing op by its name in the op's schema."""
        of_op = [tensor for tensor in self.finding.inputs if tensor.saved is None]
        return next((t for name in arguments for t in of_op if t.argument == name), None)

    def saved(self, *names: str) -> TensorFacts | None:
        """Finds what the failing node kept since the forward, by its name there."""
        kept = self.finding.inputs
        return next((t for name in names for t in kept if t.saved == name), None)

    def operand(self, name: str) -> TensorFacts | None:
        """Finds an input of the failing op, else what its node kept under that name."""
        return self.input(name) or self.saved(name)

    def number(self, argument: str) -> float | None:
        """A number of Python that was given to the failing op."""
        for scalar in self.finding.scalars:
            if scalar.name == argument:
                try:
                    return float(scalar.value)
                except ValueError:
                    return None
        return None

    @property
    def dtype(self) -> str:
        tensors = [*self.finding.outputs, *self.finding.inputs]
        known = [t.dtype for t in tensors if t.dtype in SMALL]
        return known[0] if known else "float32"

    def small(self, tensor: TensorFacts | None = None) -> float:
        """An eps for values like these: of the type, and not above their own scale."""
        base = SMALL[self.dtype]
        mean = abs(tensor.mean or 0.0) if tensor else 0.0
        sizes = [abs(x) for x in tensor.healthy if isinstance(x, int | float)] if tensor else []
        least = min((x for x in sizes if x > 0), default=math.inf)
        if self.dtype != "float16" and 0 < mean < ORDINARY:
            base = max(10.0 ** round(math.log10(base * mean)), base * 1e-4)
        # Never so large that a healthy value would be moved.
        return base if base <= least else 10.0 ** math.floor(math.log10(least))


def written(value: float) -> str:
    """As one would write it: 1e-8, 20.0"""
    text = f"{value:g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.3e}"
    mantissa, _, power = text.partition("e")
    if power:
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(power)}"
    return text if "." in text else f"{text}.0"
