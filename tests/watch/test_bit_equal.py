"""Training under nanscope ends in the very bits it ends in without."""

from __future__ import annotations

from pathlib import Path

import pytest

from watched import run_plain, watch

PROGRAM = """
import hashlib, torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(3)

class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 50)
    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.head(self.body(self.embed(x), mask=mask)).transpose(1, 2)

class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
                                  nn.Dropout(0.2), nn.Linear(16 * 5 * 5, 10))
    def forward(self, x):
        return self.body(x)

class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, 2, batch_first=True, dropout=0.1), nn.Linear(16, 5)
    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])

model, x, y = {
    "transformer": lambda: (Transformer(), *torch.randint(0, 50, (2, 4, 12)).unbind()),
    "cnn": lambda: (CNN(), torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))),
    "lstm": lambda: (Recurrent(), torch.randn(6, 10, 8), torch.randint(0, 5, (6,))),
}[MODEL]()
opt = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[OPTIMIZER](model.parameters(), lr=1e-2)
for step in range(40):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
digest = hashlib.sha256()
for name, value in sorted(model.state_dict().items()):
    digest.update(value.contiguous().flatten().view(torch.uint8).numpy().tobytes())
for state in opt.state.values():
    for key in sorted(state):
        digest.update(repr(state[key]).encode())
print(loss.item().hex(), digest.hexdigest())
"""


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("model", ["transformer", "cnn", "lstm"])
def test_forty_steps(tmp_path: Path, model: str, optimizer: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"MODEL, OPTIMIZER = {model!r}, {optimizer!r}\n{PROGRAM}")
    plain = run_plain(script, tmp_path)
    assert plain.returncode == 0, plain.stderr
    seen = watch(script, tmp_path)
    assert (seen.status, seen.out) == (0, plain.stdout)
    assert seen.report["verdict"] == "clean"
    assert seen.report["coverage"]["steps"] == 40
