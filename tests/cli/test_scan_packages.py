"""`nanscope scan` over what safetensors, gguf-py and transformers wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT

INSTALLED = list((ROOT / ".venv" / "packages").glob("lib/python3*/site-packages"))

WRITE_SAFETENSORS = """
import json, math, torch
from safetensors.torch import save_file

torch.manual_seed(0)
names = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64"]
state = {}
for name in names:
    values = torch.randn(9, 5)
    values[3, 2], values[8, 4] = math.nan, math.inf
    state[name] = values.to(getattr(torch, name))
state["float4_e2m1fn_x2"] = torch.zeros(2, 3, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
state["int32"] = torch.ones(3, dtype=torch.int32)
state["empty"] = torch.zeros(0, 4)
save_file(state, "state.safetensors", metadata={"format": "pt"})
packed = ("float4_e2m1fn_x2",)  # which torch converts to nothing else, and which cannot be bad
wide = {k: v.to(torch.complex128) for k, v in state.items() if k not in packed}
found = {k: [int(v.isnan().sum()), int(v.isinf().sum())] for k, v in wide.items()}
print(json.dumps(found | dict.fromkeys(packed, [0, 0])))
"""

# Random bytes are blocks of random numbers, some with scales that are NaN; Inf is planted.
WRITE_GGUF = """
import json, numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type, GGUFWriter
from gguf.quants import dequantize

SCALE = {"Q2_K": 80, "Q3_K": 108, "Q6_K": 208, "TQ1_0": 52, "TQ2_0": 64}
random = np.random.default_rng(0)
np.seterr(all="ignore")
writer = GGUFWriter("state.gguf", "llama")
writer.add_array("tokens", ["a", "b"] * 1000)
writer.add_custom_alignment(64)
plain = np.array([[1, np.nan, 3], [4, 5, -np.inf]], dtype=np.float32)
writer.add_tensor("float32", plain)
writer.add_tensor("float16", plain.astype(np.float16))
writer.add_tensor("int8", np.ones(4, dtype=np.int8))
expected, plain_of = {}, {}
for type in Type:
    elements, size = GGML_QUANT_SIZES[type]
    if elements == 1:
        continue
    blocks = random.integers(0, 256, (4, 32 * size), dtype=np.uint8)
    at = SCALE.get(type.name, 0)
    if type.name not in ("MXFP4", "NVFP4", "IQ1_M"):
        blocks[1, at : at + 2] = np.array([np.inf], dtype=np.float16).view(np.uint8)
    try:
        numbers = dequantize(blocks, type)
    except NotImplementedError:
        continue
    writer.add_tensor(type.name, blocks, raw_dtype=type)
    plain_of[type.name] = numbers
    finite = numbers[np.isfinite(numbers)].astype(np.float64)
    bad = np.argwhere(~np.isfinite(numbers))
    expected[type.name] = {
        "shape": list(numbers.shape),
        "nan": int(np.isnan(numbers).sum()),
        "inf": int(np.isinf(numbers).sum()),
        "min": finite.min(),
        "max": finite.max(),
        "first_bad": bad[0].tolist() if len(bad) else None,
    }
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
np.savez("plain.npz", **plain_of)
print(json.dumps(expected))
"""

WRITE_TRANSFORMERS = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=300, n_positions=64)
model = GPT2LMHeadModel(config)
with torch.no_grad():
    model.transformer.h[1].mlp.c_fc.weight[3, 5] = torch.nan
model.save_pretrained("model", max_shard_size="40KB")
"""


def write(program: str, folder: Path) -> str:
    assert INSTALLED, "no packages: scripts/setup_packages.sh"
    path = {"PYTHONPATH": os.fspath(INSTALLED[0]), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**ENVIRONMENT, **path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def scanned(path: Path, *options: object) -> dict:
    command = [NANSCOPE, "scan", "--json", path, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    return json.loads(done.stdout)


def by_name(report: dict) -> dict[str, dict]:
    return {tensor["name"]: tensor for tensor in report["tensors"]}


def test_safetensors(tmp_path: Path) -> None:
    expected = json.loads(write(WRITE_SAFETENSORS, tmp_path))
    report = scanned(tmp_path / "state.safetensors")
    found = by_name(report)
    assert report["left_out"] == []
    assert {n: [x["nan"], x["pos_inf"] + x["neg_inf"]] for n, x in found.items()} == expected
    assert found["bfloat16"]["first_bad"] == [3, 2]
    assert found["float4_e2m1fn_x2"]["shape"] == [2, 3]


def test_gguf_blocks_are_read_as_its_own_library_reads_them(tmp_path: Path) -> None:
    expected = json.loads(write(WRITE_GGUF, tmp_path))
    assert len(expected) >= 21
    report = scanned(tmp_path / "state.gguf")
    found = by_name(report)
    assert report["left_out"] == []
    assert (found["float32"]["nan"], found["float32"]["neg_inf"]) == (1, 1)
    assert found["float16"]["first_bad"] == [0, 1] and found["int8"]["nan"] == 0
    assert sum(x["inf"] > 0 for x in expected.values()) >= 15
    for name, numbers in expected.items():
        block = found[name]
        assert block["shape"] == numbers["shape"], name
        seen = {"nan": block["nan"], "inf": block["pos_inf"] + block["neg_inf"]}
        assert seen == {key: numbers[key] for key in seen}, name
        assert block["first_bad"] == numbers["first_bad"], name
        assert (block["min"], block["max"]) == (numbers["min"], numbers["max"]), name

    # Every single number is the one that gguf-py reads.
    beside = scanned(tmp_path / "state.gguf", "--against", tmp_path / "plain.npz")
    changes = {c["name"]: c for c in beside["against"]["changes"] if c["name"] in expected}
    assert changes.keys() == expected.keys()
    for name, change in changes.items():
        assert change["change"] in ("same", "stayed_bad"), name
        assert not change["largest_step"], name


@pytest.mark.slow
def test_a_model_that_transformers_saved_in_shards(tmp_path: Path) -> None:
    write(WRITE_TRANSFORMERS, tmp_path)
    report = scanned(tmp_path / "model" / "model.safetensors.index.json")
    assert len(report["files"]) > 2
    bad = {x["name"]: x["first_bad"] for x in report["tensors"] if x["first_bad"]}
    assert bad == {"transformer.h.1.mlp.c_fc.weight": [3, 5]}
    assert by_name(scanned(tmp_path / "model")).keys() == by_name(report).keys()
