"""`nanscope scan` over files that torch and NumPy wrote: what it counts is what torch counts."""

from __future__ import annotations

import io
import json
import pickle
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp

from watched import NANSCOPE, ROOT

NAN, INF = float("nan"), float("inf")
FLOATS = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.complex64,
    torch.complex128,
    torch.complex32,
    torch.float8_e5m2,
    torch.float8_e4m3fn,
    torch.float8_e5m2fnuz,
    torch.float8_e4m3fnuz,
    torch.float8_e8m0fnu,
]
WHOLE = [torch.int64, torch.uint8, torch.bool, torch.int32, torch.uint16]


def scan(*arguments: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [NANSCOPE, "scan", *map(str, arguments)], capture_output=True, text=True, timeout=600
    )


def scanned(*paths: Path, status: int = 3) -> dict:
    done = scan("--json", *paths)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def by_name(report: dict) -> dict[str, dict]:
    return {tensor["name"]: tensor for tensor in report["tensors"]}


def planted() -> dict:
    """Of every type one tensor, with what that type can hold of NaN, Inf and zero."""
    torch.manual_seed(0)
    state: dict = {}
    for dtype in FLOATS:
        values = torch.randn(7, 11).abs() + 0.5
        values[2, 3], values[4, 1], values[6, 10], values[0, 0] = NAN, INF, -INF, 0.0
        if dtype == torch.float8_e8m0fnu:
            values = values.abs()  # has no sign
        state[str(dtype).removeprefix("torch.")] = values.to(dtype)
    for dtype in WHOLE:
        state[str(dtype).removeprefix("torch.")] = torch.ones(3, dtype=dtype)
    return state


def counted(tensor: torch.Tensor) -> tuple[int, int]:
    """NaN and Inf of a tensor, by torch."""
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    return int(wide.isnan().sum()), int((wide.isinf() & ~wide.isnan()).sum())


def check(found: dict, tensor: torch.Tensor) -> None:
    nan, inf = counted(tensor)
    assert found["shape"] == list(tensor.shape)
    assert found["dtype"] == str(tensor.dtype).removeprefix("torch.")
    assert (found["nan"], found["pos_inf"] + found["neg_inf"]) == (nan, inf), found["name"]
    if not tensor.dtype.is_floating_point:
        return
    wide = tensor.to(torch.float64)
    finite = wide[wide.isfinite()]
    if finite.numel():
        assert (found["min"], found["max"]) == (finite.min().item(), finite.max().item())
        largest = finite.abs().max().item()
        room = 65504 / largest if largest else None
        assert found["fp16_room"] == (pytest.approx(room) if room else None)
        assert found["zeros"] == int((finite == 0).sum())
    if nan + inf:
        index = tuple(found["first_bad"])
        assert not wide[index].isfinite()


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_every_type_of_torch(tmp_path: Path, zipped: bool) -> None:
    state = planted()
    path = tmp_path / "state.pt"
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    report = scanned(path)
    found = by_name(report)
    assert set(found) == set(state)
    for name, tensor in state.items():
        check(found[name], tensor)
    assert report["verdict"] == "non_finite"
    assert report["left_out"] == [] and report["errors"] == []


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_views_that_share_a_storage(tmp_path: Path, zipped: bool) -> None:
    base = torch.arange(48.0).reshape(6, 8)
    base[1, 3] = NAN
    base[5, 0] = INF
    views = {
        "whole": base,
        "transposed": base.t(),
        "row": base[1],
        "column": base[:, 3],
        "steps": base[::2, 1::3],
        "without": base[2:5, 1:],
        "expanded": base[1, 3].expand(4, 5),
        "last": base[5:, :1],
        "empty": base[:0],
        "scalar": base[1, 3],
        "permuted": torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    }
    path = tmp_path / "views.pt"
    torch.save(views, path, _use_new_zipfile_serialization=zipped)
    found = by_name(scanned(path))
    for name, view in views.items():
        check(found[name], view)
    assert found["transposed"]["first_bad"] == [3, 1]
    assert found["expanded"]["nan"] == 20


def test_a_training_checkpoint(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    optimizer.state[model[0].weight]["exp_avg_sq"][3, 3] = INF
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "best": INF,
        "loss": np.float32(NAN),
        "nested": [{"deep": (torch.tensor([1.0, NAN]),)}],
        "numpy": np.array([[1.0, -np.inf]]),
        "random": torch.get_rng_state(),
    }
    path = tmp_path / "last.ckpt"
    torch.save(state, path)
    report = scanned(path)
    found = by_name(report)
    bad = {name for name, tensor in found.items() if tensor["nan"] + tensor["pos_inf"]}
    assert bad == {"optimizer.state.0.exp_avg_sq", "nested.0.deep.0"}
    assert found["optimizer.state.0.exp_avg_sq"]["first_bad"] == [3, 3]
    assert found["numpy"]["neg_inf"] == 1
    assert {"model.0.weight", "model.1.running_var", "random"} <= set(found)
    assert [(x["name"], x["value"]) for x in report["odd_numbers"]] == [
        ("best", "inf"),
        ("loss", "nan"),
    ]


def test_other_kinds_of_tensors(tmp_path: Path) -> None:
    linear = torch.nn.Linear(2, 2)
    with torch.no_grad():
        linear.bias[1] = NAN

    state = {
        "module": linear,
        "parameter": linear.bias,
        "sparse": torch.tensor([[0.0, NAN], [0.0, 0.0]]).to_sparse(),
        "csr": torch.tensor([[0.0, INF], [0.0, 0.0]]).to_sparse_csr(),
        "meta": torch.ones(3, device="meta"),
        "storage": torch.tensor([1.0, NAN]).storage(),
        "untyped": torch.ones(1).untyped_storage(),
        "conjugate": torch.tensor([complex(1, NAN)]).conj(),
        "half": torch.ones(3, dtype=torch.float16),
        "subnormal": torch.tensor([1e-40, 1.0]),
        "large": torch.tensor([1e6]),
    }
    path = tmp_path / "kinds.pt"
    torch.save(state, path)
    report = scanned(path)
    found = by_name(report)
    bad = {name for name, tensor in found.items() if tensor["first_bad"] is not None}
    for name in ("module.bias", "parameter", "storage", "conjugate"):
        assert name in bad, name
    assert sum(name.startswith("sparse") for name in bad) == 1
    assert sum(name.startswith("csr") for name in bad) == 1
    assert {x["name"] for x in report["left_out"]} == {"meta", "untyped"}
    assert found["subnormal"]["subnormals"] == 1
    assert found["large"]["fp16_room"] < 1


def test_arrays_of_numpy(tmp_path: Path) -> None:
    arrays = {
        "a": np.array([[1.0, np.nan], [np.inf, 2.0]], dtype=">f4"),
        "b": np.asfortranarray(np.array([[1.0, 2.0, np.nan], [4.0, 5.0, 6.0]])),
        "c": np.ones(1000, dtype=np.float16),
        "d": np.array([1 + 1j * np.inf], dtype=np.complex64),
        "e": np.arange(3),
        "f": np.array(["text"]),
        "g": np.zeros((0, 4)),
        "h": np.array(3.0),
    }
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    np.savez(tmp_path / "plain.npz", **arrays)
    for name in ("packed.npz", "plain.npz"):
        report = scanned(tmp_path / name)
        found = by_name(report)
        assert {n for n, x in found.items() if x["first_bad"] is not None} == {"a", "b", "d"}
        assert (found["a"]["nan"], found["a"]["pos_inf"]) == (1, 1)
        assert found["b"]["first_bad"] == [0, 2] and found["b"]["max"] == 6
        assert [x["name"] for x in report["left_out"]] == ["f"]
    np.save(tmp_path / "a.npy", arrays["a"])
    assert scanned(tmp_path / "a.npy")["tensors"][0]["first_bad"] == [0, 1]
    with open(tmp_path / "list.pkl", "wb") as file:
        pickle.dump({"x": [arrays["a"], arrays["b"]]}, file, protocol=5)
    found = by_name(scanned(tmp_path / "list.pkl"))
    assert (found["x.0"]["nan"], found["x.1"]["nan"]) == (1, 1)


@pytest.mark.filterwarnings("ignore")
def test_a_distributed_checkpoint(tmp_path: Path) -> None:
    weight = torch.ones(4, 5)
    weight[1, 2] = NAN
    dcp.save({"model": {"w": weight, "b": torch.ones(3)}, "lr": 0.1}, checkpoint_id=tmp_path / "d")
    report = scanned(tmp_path / "d")
    found = by_name(report)
    assert set(found) == {"model.w", "model.b"}
    assert found["model.w"]["first_bad"] == [1, 2]
    assert [x["format"] for x in report["files"]] == ["distributed"]
    (tmp_path / "d" / "__0_0.distcp").unlink()
    assert "__0_0.distcp: there is no such file." in scan(tmp_path / "d").stderr


@pytest.mark.filterwarnings("ignore")
def test_a_distributed_checkpoint_leads_nowhere_else(tmp_path: Path) -> None:
    dcp.save({"w": torch.tensor([NAN])}, checkpoint_id=tmp_path / "d")
    metadata = pickle.loads((tmp_path / "d/.metadata").read_bytes())
    for place in metadata.storage_data.values():
        place.relative_path = "../other.distcp"
    (tmp_path / "d/.metadata").write_bytes(pickle.dumps(metadata))
    (tmp_path / "d/__0_0.distcp").rename(tmp_path / "other.distcp")
    done = scan(tmp_path / "d")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "names a file outside of its own folder." in done.stderr


def test_a_zip_that_was_packed_again(tmp_path: Path) -> None:
    base = torch.arange(40000.0).reshape(200, 200)
    base[100, 7] = NAN
    plain = tmp_path / "plain.pt"
    torch.save({"base": base, "part": base[90:110, 3:9], "fine": base[:50]}, plain)
    packed = tmp_path / "packed.pt"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert {n: x["nan"] for n, x in by_name(scanned(packed)).items()} == {
        "base": 1,
        "part": 1,
        "fine": 0,
    }


# ---------------------------------------------------------------- what a user sees
def test_the_answer_comes_first(tmp_path: Path) -> None:
    weight = torch.ones(64, 64)
    weight[2, 17] = NAN
    torch.save({"layers.7.mlp.weight": weight, "fine": torch.ones(3)}, tmp_path / "model.pt")
    done = scan(tmp_path / "model.pt")
    assert done.stdout.splitlines()[0] == (
        "1 of 2 tensors holds NaN or Inf; worst: layers.7.mlp.weight "
        "(1 of 4,096 elements: 1 NaN; the first at [2, 17])"
    )
    assert "fp16 room" in done.stdout and done.stderr == ""
    assert scan("-q", tmp_path / "model.pt").stdout.count("\n") == 1
    torch.save({"fine": torch.ones(3), "too": torch.ones(2)}, tmp_path / "fine.pt")
    done = scan(tmp_path / "fine.pt")
    assert done.returncode == 0
    assert done.stdout.startswith("All 2 tensors are finite.\n")


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for step in ("step_100", "step_200"):
        (tmp_path / "runs" / step).mkdir(parents=True)
        torch.save({"w": torch.full((2,), NAN)}, tmp_path / "runs" / step / "model.pt")
    torch.save({"w": torch.ones(2)}, tmp_path / "runs/last.pt")
    rows = [line.split() for line in scan(tmp_path / "runs").stdout.splitlines()]
    files = [row[3] for row in rows if row[:2] == ["w", "float32"]]
    assert sorted(files) == ["last.pt", "step_100/model.pt", "step_200/model.pt"]


def test_long_tables_are_folded(tmp_path: Path) -> None:
    torch.save({f"w{i}": torch.full((2,), NAN) for i in range(50)}, tmp_path / "all.pt")
    text = scan(tmp_path / "all.pt").stdout
    assert text.count("float32") == 20 and "... and 30 more with NaN or Inf" in text
    assert scan("-v", tmp_path / "all.pt").stdout.count("float32") == 50


def test_what_was_not_read_is_no_all_clear(tmp_path: Path) -> None:
    np.savez(tmp_path / "mixed.npz", a=np.ones(2), records=np.zeros(2, dtype=[("x", "f4")]))
    done = scan(tmp_path / "mixed.npz")
    assert done.stdout.startswith("NOT FULLY READ")
    assert scanned(tmp_path / "mixed.npz", status=0)["verdict"] == "unknown"


def test_a_name_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    torch.save({"\x1b[2Jgone\n": torch.tensor([NAN])}, tmp_path / "odd.pt")
    done = scan(tmp_path / "odd.pt")
    assert "\x1b" not in done.stdout
    assert scanned(tmp_path / "odd.pt")["tensors"][0]["name"] == "\x1b[2Jgone\n"


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scan.md").read_text()
    program = ROOT / "examples" / "checkpoint_gone_bad.py"
    subprocess.run([sys.executable, program], cwd=tmp_path, check=True)
    shown = re.findall(
        r"```text\n\$ nanscope (scan [^\n]*)\n(?:\.\.\.\n)?(.*?)```", page, re.DOTALL
    )
    assert len(shown) == 2
    for command, text in shown:
        words = [NANSCOPE, *command.split()]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 3
        assert without_numbers(text) in without_numbers(done.stdout)


def without_numbers(text: str) -> str:
    """Another processor may round otherwise; columns are then wider or narrower."""
    return " ".join(re.sub(r"-?\d[\d,.]*(e[+-]\d+)?( [kMG]?B\b)?", "#", text).split())


# ---------------------------------------------------------------- beside another checkpoint
def test_which_went_bad_and_which_moved(tmp_path: Path) -> None:
    torch.manual_seed(1)
    then = {
        "bad": torch.randn(30, 40),
        "far": torch.randn(100, 200).t(),
        "near": torch.randn(5000),
        "same": torch.randn(7),
        "healed": torch.tensor([1.0, NAN]),
        "gone": torch.ones(1),
        "shape": torch.ones(2),
        "whole": torch.ones(2, dtype=torch.int64),
        "zero": torch.zeros(3),
    }
    now = {name: tensor.clone() for name, tensor in then.items() if name != "gone"}
    now["bad"][3, 4] = INF
    now["far"] *= 1.5
    now["near"] = (now["near"] * 1.01).to(torch.float64)
    now["healed"] = torch.ones(2)
    now["shape"] = torch.ones(3)
    now["new"] = torch.ones(1)
    now["zero"][1] = 2.0
    torch.save(then, tmp_path / "then.pt")
    torch.save(now, tmp_path / "now.pt", _use_new_zipfile_serialization=False)
    done = scan("--json", tmp_path / "now.pt", "--against", tmp_path / "then.pt")
    assert done.returncode == 3
    changes = json.loads(done.stdout)["against"]["changes"]
    assert changes[0]["name"] == "bad"
    kinds = {x["name"]: x["change"] for x in changes}
    assert kinds == {
        "bad": "went_bad",
        "healed": "healed",
        "far": "moved",
        "near": "moved",
        "zero": "moved",
        "same": "same",
        "shape": "reshaped",
        "new": "only_now",
        "gone": "only_then",
        "whole": "not_compared",
    }
    moved = {x["name"]: x for x in changes}
    assert moved["far"]["moved"] == pytest.approx(0.5, rel=1e-6)
    step = (now["far"].double() - then["far"].double()).abs().max().item()
    assert moved["far"]["largest_step"] == pytest.approx(step, rel=1e-12)
    relative = (now["near"] - then["near"].double()).norm() / then["near"].double().norm()
    assert moved["near"]["moved"] == pytest.approx(relative.item(), rel=1e-9)
    assert moved["zero"]["moved"] == "inf"
    now["also"] = torch.tensor([NAN])
    torch.save(now, tmp_path / "more.pt")
    text = scan(tmp_path / "more.pt", "--against", tmp_path / "then.pt").stdout
    assert "then.pt: bad\n1 tensor is not finite and only here.\n" in text
    text = scan(tmp_path / "now.pt", "--against", tmp_path / "then.pt").stdout
    assert f"1 tensor went bad since {tmp_path / 'then.pt'}: bad\n" in text
    done = scan(tmp_path / "then.pt", "--against", tmp_path / "missing.pt")
    assert done.returncode == 2 and "there is no such file" in done.stderr
    assert "went bad" not in done.stdout and "No tensor could be compared with" in done.stdout


def test_a_file_cut_off_is_no_good_news(tmp_path: Path) -> None:
    torch.save({"w": torch.tensor([1.0, NAN])}, tmp_path / "now.pt")
    torch.save({"w": torch.ones(2)}, tmp_path / "then.pt")
    whole = (tmp_path / "then.pt").read_bytes()
    (tmp_path / "then.pt").write_bytes(whole[: len(whole) // 2])
    done = scan(tmp_path / "now.pt", "--against", tmp_path / "then.pt")
    assert done.returncode == 2
    assert "No tensor could be compared with" in done.stdout
    assert "1 tensor is not finite and only here. Not all could be read" in done.stdout


# ---------------------------------------------------------------- what is damaged or hostile
class Trap:
    def __reduce__(self):
        return (Path.touch, (Path("trap-was-executed"),))


def test_no_pickle_is_executed(tmp_path: Path) -> None:
    torch.save({"trap": Trap(), "w": torch.tensor([NAN])}, tmp_path / "trap.pt")
    with open(tmp_path / "trap.pkl", "wb") as file:
        pickle.dump([Trap()], file)
    done = subprocess.run(
        [NANSCOPE, "scan", "trap.pt", "trap.pkl"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert not (tmp_path / "trap-was-executed").exists()


def test_the_others_are_read_when_one_cannot_be(tmp_path: Path) -> None:
    torch.save({"w": torch.tensor([NAN, 1.0])}, tmp_path / "good.pt")
    whole = (tmp_path / "good.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.pt").write_text("hello")
    (tmp_path / "empty.pt").write_bytes(b"")
    names = ["cut.pt", "text.pt", "empty.pt", "missing.pt", "good.pt"]
    done = scan(*[tmp_path / name for name in names])
    assert done.returncode == 2
    assert done.stdout.startswith("w holds NaN or Inf")
    complaints = done.stderr.splitlines()
    assert len(complaints) == 4
    for name, line in zip(names, complaints, strict=False):
        assert line.startswith(f"nanscope: {tmp_path / name}: "), line
        assert line.endswith("."), line


def index(tmp_path: Path, names: list[str]) -> Path:
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": {f"w{i}": name for i, name in enumerate(names)}}))
    return path


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "a/b.pt", ""])
def test_an_index_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    done = scan(index(tmp_path, [name]))
    assert done.returncode == 2
    assert "outside of its own folder" in done.stderr


def test_an_index_reads_its_shards(tmp_path: Path) -> None:
    torch.save({"w0": torch.tensor([1.0])}, tmp_path / "one.bin")
    torch.save({"w1": torch.tensor([NAN])}, tmp_path / "two.bin")
    found = by_name(scanned(index(tmp_path, ["one.bin", "two.bin"])))
    assert (found["w0"]["nan"], found["w1"]["nan"]) == (0, 1)
    assert len(scanned(tmp_path)["tensors"]) == 2  # the folder names each once
    done = scan(index(tmp_path, ["one.bin", "three.bin"]))
    assert done.returncode == 2 and "three.bin: there is no such file." in done.stderr


def safetensors(header: bytes, data: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + data


def test_a_header_whose_length_looks_like_another_format(tmp_path: Path) -> None:
    tensor = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    for length in (0x80, 0x4B50, 0x0280):  # a pickle, a zip, a pickle of protocol 2
        data = safetensors(tensor.ljust(length), np.float32(NAN).tobytes())
        (tmp_path / f"{length}.safetensors").write_bytes(data)
        assert scanned(tmp_path / f"{length}.safetensors")["bad_tensors"] == 1


HOSTILE = {
    "huge_header.safetensors": (2**40).to_bytes(8, "little") + b"{",
    "long_header.safetensors": (10**8).to_bytes(8, "little") + b"{",
    "short.safetensors": safetensors(b'{"w":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'),
    "negative.safetensors": safetensors(b'{"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}'),
    "overflow.safetensors": safetensors(
        b'{"w":{"dtype":"F32","shape":[4611686018427387904,16],"data_offsets":[0,4]}}', b"1234"
    ),
    "deep.safetensors": safetensors(b'{"w":' + b"[" * 100_000),
    "deep.index.json": b'{"weight_map":' + b'{"a":' * 100_000,
    "deep.pkl": b"\x80\x02" + b"]" * 1_000_000 + b"a" * 999_999,
    "stack.pkl": b"\x80\x02NN000000.",
    "memo.pkl": b"\x80\x02]r\xff\xff\xff\xffj\xff\xff\xff\x7f.",
    "long.pkl": b"\x80\x02\x8b\xff\xff\xff\x7f",
    "huge.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'",
    "sizes.npy": b"\x93NUMPY\x01\x00\x46\x00"
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }".ljust(70),
    "tensors.gguf": b"GGUF\x03\x00\x00\x00" + b"\xff" * 16,
    "text.gguf": b"GGUF\x03\x00\x00\x00" + b"\0" * 8 + b"\1" + b"\0" * 7 + b"\xff" * 8,
    "empty.gguf": b"GGUF\x03\0\0\0"
    + struct.pack("<3QI3QIQ", 1, 0, 0, 3, 2**40, 2**40, 0, 2, 0).ljust(88),
    "zip.pt": b"PK\x03\x04" + b"\0" * 100,
    "end.npz": b"PK\x05\x06" + b"\xff" * 18,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(HOSTILE[name])
    # No header makes us allocate what it says.
    limited = ["bash", "-c", 'ulimit -v 2000000; exec "$@"', "-", str(NANSCOPE), "scan"]
    done = subprocess.run([*limited, str(tmp_path / name)], capture_output=True, text=True)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("nanscope: ")
    assert "a fault of its own" not in done.stderr


BOMBS = {
    "bytes": b"\x80\x02" + b"]" * (15 << 20) + b".",
    "values": b"\x80\x02" + b"]" * (1 << 20) + b".",
    "calls": b"\x80\x02N" + b"Q" * (1 << 20) + b".",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_deflated_pickle_stays_small(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", BOMBS[name])
    assert (tmp_path / "bomb.pt").stat().st_size < 20_000
    limited = ["bash", "-c", 'ulimit -v 65536; exec "$@"', "-", str(NANSCOPE), "scan"]
    done = subprocess.run([*limited, tmp_path / "bomb.pt"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "bomb.pt: its pickle " in done.stderr


def test_a_checkpoint_that_was_zipped_again(tmp_path: Path) -> None:
    torch.save({f"layers.{i}.weight": torch.ones(2) for i in range(5000)}, tmp_path / "w.pt")
    with (
        zipfile.ZipFile(tmp_path / "w.pt") as old,
        zipfile.ZipFile(tmp_path / "again.pt", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert len(scanned(tmp_path / "again.pt", status=0)["tensors"]) == 5000


def test_members_that_overlap_are_no_data(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=np.zeros(100_000), b=np.zeros(100_000))
    bomb = bytearray(buffer.getvalue())
    entries = [i for i in range(len(bomb)) if bomb[i : i + 4] == b"PK\x01\x02"]
    bomb[entries[1] + 42 : entries[1] + 46] = bomb[entries[0] + 42 : entries[0] + 46]
    (tmp_path / "bomb.npz").write_bytes(bomb)
    done = scan(tmp_path / "bomb.npz")
    assert done.returncode == 2 and "its members overlap" in done.stderr


def test_a_member_that_holds_less_than_it_says(tmp_path: Path) -> None:
    array = io.BytesIO()
    np.save(array, np.zeros(1000))
    longer = array.getvalue().replace(b"(1000,)", b"(9999,)")
    with zipfile.ZipFile(tmp_path / "liar.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", longer)
    data = bytearray((tmp_path / "liar.npz").read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (128 + 8 * 9999).to_bytes(4, "little")
    (tmp_path / "liar.npz").write_bytes(data)
    done = scan(tmp_path / "liar.npz")
    assert done.returncode == 2 and "holds less than it should" in done.stderr


def test_a_tensor_beyond_its_storage(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(4)}, tmp_path / "w.pt")
    data = (tmp_path / "w.pt").read_bytes()
    # The size in the pickle: K\x04 (BININT1 4) in the tuple of sizes.
    (tmp_path / "w.pt").write_bytes(data.replace(b"K\x04\x85", b"K\x40\x85"))
    done = scan(tmp_path / "w.pt")
    assert done.returncode == 2 and "beyond the end" in done.stderr


def test_devices_and_folders_without_checkpoints(tmp_path: Path) -> None:
    done = scan("/dev/zero", tmp_path)
    assert done.returncode == 2
    assert "not a regular file" in done.stderr and "no checkpoint in this folder" in done.stderr
