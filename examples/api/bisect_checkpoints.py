"""bisect_checkpoints: between which two checkpoints of a training it went bad."""

import tempfile
from pathlib import Path

import torch

import nanscope

with tempfile.TemporaryDirectory() as folder:
    paths = []
    for number in range(32):
        weights = {"w": torch.full((4,), 1.0 if number < 21 else float("inf"))}
        paths.append(Path(folder) / f"step{number:02}.pt")
        torch.save(weights, paths[-1])
    found = nanscope.bisect_checkpoints(paths)
    print(found.good.name, "is healthy,", found.bad.name, "is not:", found.why)
    print(found.tried, "of", len(paths), "were read")
