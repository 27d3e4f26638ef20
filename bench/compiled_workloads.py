"""The same steps compiled by inductor: the model alone, or the optimizer with it."""

from __future__ import annotations

import torch
import workloads
from workloads import Workload


def compiled_model(make):
    def made():
        step = make()
        step.model.compile()
        return step

    return made


def compiled_whole(make):
    """The optimizer too: what a region writes is kept before each call."""

    def made():
        step = compiled_model(make)()
        step.optimizer.step = torch.compile(step.optimizer.step)
        return step

    return made


def compiled(make, how, repeat: int, goal: float, **counted: int) -> Workload:
    # The rivals break the graph, or are not seen in it.
    return Workload(how(make), repeat, goal, rivals=False, **counted)


ALL = {
    "tiny MLP, model and Adam compiled": compiled(
        workloads.tiny_mlp, compiled_whole, 60, 1.03, warm=40, counted=20
    ),
    "GPT, model compiled": compiled(workloads.gpt, compiled_model, 1, 1.01),
    "GPT, model and AdamW compiled": compiled(workloads.gpt, compiled_whole, 1, 1.03),
    "ResNet-18-like CNN, model compiled": compiled(workloads.resnet, compiled_model, 2, 1.01),
    "GPT under bf16 autocast, model compiled": compiled(
        workloads.gpt_bfloat16, compiled_model, 2, 1.01
    ),
}
