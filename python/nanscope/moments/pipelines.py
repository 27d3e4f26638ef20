"""Stages of torch's own pipeline: what they run to learn shapes is no training.

Before its first step a stage runs the model, the loss and their backward on memory that nobody has
written, and looks at nothing but the shapes of what comes out.
"""

from __future__ import annotations

from functools import partial

from nanscope.run.imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

STAGES = "torch.distributed.pipelining.stage"
LEARN_SHAPES = ("_forward_metadata_inference", "_backward_metadata_inference", "_shape_inference")


def begin(adapter: ModuleType, stand_in: Callable[[object, str, Callable], None]) -> None:
    """`stand_in` puts a function in the place of a method."""

    def imported(stages: ModuleType) -> None:
        kind = stages.PipelineStage
        for name in LEARN_SHAPES:
            original = getattr(kind, name, None)
            if original is not None:
                stand_in(kind, name, partial(adapter.quietly, original))

    when_imported(STAGES, imported)
