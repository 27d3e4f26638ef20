"""`run --notify`: TensorBoard reads its files back, a webhook is a real server."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from installed_packages import WITH_PACKAGES

from watched import NANSCOPE, ROOT

EXAMPLE = ROOT / "examples/integrations/tracked.py"
TRAIN = """
import sys, torch
p = torch.tensor([0.5, float(len(sys.argv) > 1)], requires_grad=True)
optimizer = torch.optim.SGD([p], 0.0)
for _ in range(3):
    torch.log(p).sum().backward()
    optimizer.step()
"""
READ_EVENTS = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
events.Reload()
tags = events.Tags()
text = events.Tensors("nanscope/diagnosis/text_summary")[0]
print(json.dumps({
    "scalars": {t: [[e.step, e.value] for e in events.Scalars(t)] for t in tags["scalars"]},
    "histograms": {t: [[e.step, e.histogram_value.num, list(e.histogram_value.bucket_limit),
                        list(e.histogram_value.bucket)] for e in events.Histograms(t)]
                   for t in tags["histograms"]},
    "text": [text.step, text.tensor_proto.string_val[0].decode()],
}))
"""


def run(folder: Path, *words: str, script: str = TRAIN) -> subprocess.CompletedProcess:
    (folder / "train.py").write_text(script)
    line = [NANSCOPE, "run", *words]
    return subprocess.run(line, cwd=folder, env=WITH_PACKAGES, capture_output=True, text=True)


def events_in(folder: Path) -> dict:
    line = [sys.executable, "-c", READ_EVENTS, folder]
    done = subprocess.run(line, env=WITH_PACKAGES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_tensorboard_shows_the_finding(tmp_path: Path) -> None:
    options = ("--notify", "tensorboard:runs/nan", "--json", "found.json", "-o", "found.nsc")
    done = run(tmp_path, *options, str(EXAMPLE))
    assert done.returncode == 3, done.stderr
    assert "was not told" not in done.stderr
    report = json.loads((tmp_path / "found.json").read_text())
    finding = report["findings"][0]
    step = finding["origin"]["step"]
    seen = events_in(tmp_path / "runs/nan")

    norms = [row for row in finding["history"] if row["gradient_norm"] is not None]
    assert len(norms) > 3
    shown = seen["scalars"]["nanscope/gradient_norm"]
    assert [row["step"] for row in norms] == [at for at, _ in shown]
    assert shown[0][1] == pytest.approx(float(norms[0]["gradient_norm"]), rel=1e-5)
    largest = seen["scalars"]["nanscope/largest_parameter"]
    rooms = seen["scalars"]["nanscope/head_room_parameters"]
    assert [at for at, _ in rooms] == [at for at, _ in largest]
    for (_, room), (_, value) in zip(rooms, largest, strict=True):
        assert room == pytest.approx(128 - math.log2(value), abs=1e-3)  # they are float32
    finite = [row["step"] for row in norms if math.isfinite(float(row["gradient_norm"]))]
    assert [at for at, _ in seen["scalars"]["nanscope/head_room_gradients"]] == finite
    assert seen["scalars"]["nanscope_nonfinite/outside_of_modules"][0][0] == step
    (room,) = seen["scalars"]["nanscope_head_room_weight/model.0"]
    assert room[0] == step and 110 < room[1] < 130

    facts = finding["inputs"][0]
    at, count, limits, buckets = seen["histograms"][
        f"nanscope_inputs/{facts['name']} (absolute values)"
    ][0]
    assert at == step and count == sum(facts["exponents"]["bins"]) == sum(buckets)
    assert limits[1] / limits[0] == 2.0 ** facts["exponents"]["width"]

    at, text = seen["text"]
    assert at == step
    for part in ("First Bad Operation", "Root Cause", "Input Statistics", "Coverage"):
        assert part in text

    # The same from the capture.
    write = "from nanscope.integrations.tensorboard import write; write('found.nsc', 'later')"
    again = subprocess.run([sys.executable, "-c", write], cwd=tmp_path, env=WITH_PACKAGES)
    assert again.returncode == 0
    later = events_in(tmp_path / "later")["scalars"]
    assert json.dumps(later) == json.dumps(seen["scalars"])  # nan is no number to compare


IN_A_MODULE = """
import torch

class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(2, 3, bias=False)

    def forward(self, x):
        return torch.log(self.out(x) * 0)

model = torch.nn.Sequential(torch.nn.Linear(2, 2), Head())
model(torch.ones(4, 2)).sum().backward()
torch.optim.SGD(model.parameters(), 0.1).step()
"""


def test_tensorboard_counts_by_module(tmp_path: Path) -> None:
    done = run(tmp_path, "--notify", "tensorboard:nan", "train.py", script=IN_A_MODULE)
    assert done.returncode == 3, done.stderr
    scalars = events_in(tmp_path / "nan")["scalars"]
    counts = {tag: rows for tag, rows in scalars.items() if tag.startswith("nanscope_nonfinite/")}
    assert counts == {"nanscope_nonfinite/model.1": [[0, 12.0]]}


class Server:
    """A real one, on a port that the system chooses."""

    def __init__(self, status: int = 200) -> None:
        self.received: list[tuple[str, dict, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.received.append((self.path, body, self.headers["Content-Type"]))
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def __enter__(self) -> Server:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def test_a_webhook_is_told_once_and_only_of_an_error(tmp_path: Path) -> None:
    with Server() as server:
        options = ("--notify", server.address, "--notify", server.address)
        assert run(tmp_path, *options, "train.py", "healthy").returncode == 0
        assert server.received == []
        assert run(tmp_path, "train.py").returncode == 3  # nobody was named
        assert server.received == []
        done = run(tmp_path, *options, "train.py")
        assert done.returncode == 3 and "was not told" not in done.stderr
        ((path, body, kind),) = server.received
    assert (path, kind) == ("/hook", "application/json")
    assert body["text"] == "nanscope: train.py:6:5: aten::log made -inf (log_of_zero), step 0"
    assert (body["cause"], body["file"], body["line"], body["step"]) == (
        "log_of_zero", "train.py", 6, 0,
    )  # fmt: skip
    assert body["program"] == "train.py"
    assert "torch.log" not in json.dumps(body)  # no source


@pytest.mark.slow
def test_a_webhook_that_sends_us_elsewhere_or_is_gone_changes_nothing(tmp_path: Path) -> None:
    with Server(302) as server:
        done = run(tmp_path, "--notify", server.address, "train.py")
        assert [path for path, _, _ in server.received] == ["/hook"]
    assert done.returncode == 3
    assert f"nanscope: {server.address} was not told: it answered 302" in done.stderr
    gone = run(tmp_path, "--notify", server.address, "train.py")
    assert gone.returncode == 3
    assert "was not told: [Errno 111] Connection refused." in gone.stderr


def test_who_is_not_there_is_not_told(tmp_path: Path) -> None:
    words = [x for name in ("mlflow", "wandb", "trackio") for x in ("--notify", name)]
    done = run(tmp_path, *words, "train.py")
    assert done.returncode == 3
    assert "nanscope: mlflow was not told: the program has not imported it." in done.stderr
    assert "nanscope: wandb was not told: the program has no run of it open." in done.stderr
    assert "nanscope: trackio was not told: the program has not imported it." in done.stderr
    unknown = run(tmp_path, "--notify", "slack", "train.py")
    assert unknown.returncode == 2
    assert "--notify is an http address, wandb, mlflow, trackio or tensorboard:FOLDER" in (
        unknown.stderr
    )
