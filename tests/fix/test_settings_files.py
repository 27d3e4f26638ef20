"""Settings in YAML, JSON and TOML: changed where they are written, and nowhere else."""

from __future__ import annotations

import pytest
from proposing import case_of

from nanscope.fix.patch import instrument, propose
from nanscope.fix.patch.settings_file import SettingsFile

PROGRAM = """import torch
import yaml

with open("{name}") as file:
    cfg = yaml.safe_load(file)
optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"])
loss = «(model(x) - y).square()».mean()
"""


def lowered(folder, name: str, text: str, program: str = PROGRAM, arguments=()) -> str:
    """The file of settings after the first proposal for a training that diverges."""
    (folder / name).write_text(text)
    case = case_of(folder, program.format(name=name), "learning_rate_divergence")
    case.arguments = arguments
    best = next(c for c in propose.candidates(case) if c.id == "lower_learning_rate")
    assert all(source.path for source in instrument.measuring(case, best).values())
    (changed,) = instrument.patched(case.files, best).values()
    assert changed.path == str(folder / name)
    return changed.text


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("c.yaml", "# run\nlr: 0.5  # high\nseed: 1\n", "# run\nlr: 0.05  # high\nseed: 1\n"),
        ("c.yml", "optim:\n  lr: 1.0e-3\n", "optim:\n  lr: 1.0e-4\n"),
        ("c.yaml", "optim: {name: sgd, lr: 2.0}\n", "optim: {name: sgd, lr: 0.2}\n"),
        ("c.json", '{"lr": 3, "n": 2}', '{"lr": 0.3, "n": 2}'),
        ("c.toml", "[optim]\nlr = 0.5\nwarmup = 10\n", "[optim]\nlr = 0.05\nwarmup = 10\n"),
    ],
)
def test_the_number_is_changed_where_it_is_written(tmp_path, name, before, after):
    assert lowered(tmp_path, name, before) == after


def test_the_command_line_may_name_the_file(tmp_path):
    program = PROGRAM.replace('open("{name}")', "open(sys.argv[1])")
    found = lowered(tmp_path, "c.yaml", "lr: 0.5\n", program, ("--config=c.yaml",))
    assert found == "lr: 0.05\n"


@pytest.mark.parametrize(
    "text", ["lr: 0.5\nhead:\n  lr: 0.1\n", "lr: auto\n", "lrs: 0.5\n", "note: 'lr: 0.5'\n"]
)
def test_what_is_not_sure_is_left_alone(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    case = case_of(tmp_path, PROGRAM.format(name="c.yaml"), "learning_rate_divergence")
    for candidate in propose.candidates(case):
        assert all(edit.path.endswith(".py") for edit in candidate.edits)


def test_numbers_of_all_spellings(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\nb: -2.5e+3\nc: .5\nd: 1_000\ne: 1.2.3\nf: 3 apples\n")
    found = {n.key: n.evaluated_value for n in SettingsFile.read(str(path)).numbers()}
    assert found == {"a": 1.0, "b": -2500.0, "c": 0.5, "d": 1000.0}
