"""What other tools read of us: the problem matcher, the workflow, the command file of an agent."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from watched import NANSCOPE, ROOT

EXAMPLES = ROOT / "examples" / "integrations"
TRAIN = """
import torch
p = torch.tensor([0.5, 0.0], requires_grad=True)
optimizer = torch.optim.SGD([p], 0.1)
torch.log(p).sum().backward()
optimizer.step()
"""
SHELL_STEP = re.compile(r"run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)")


def train(folder: Path, *options: str) -> subprocess.CompletedProcess:
    (folder / "train.py").write_text(TRAIN)
    line = [NANSCOPE, "run", *options, "train.py"]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True)


def test_the_problem_matcher_reads_our_first_line(tmp_path: Path) -> None:
    task = json.loads((EXAMPLES / "vscode/tasks.json").read_text())["tasks"][0]
    assert task["args"][:2] == ["run", "--no-color"]
    pattern = task["problemMatcher"]["pattern"]
    said = train(tmp_path, "--no-color").stderr
    problems = [m for line in said.splitlines() if (m := re.search(pattern["regexp"], line))]
    assert len(problems) == 1, said
    (found,) = problems
    parts = ("severity", "file", "line", "column", "message")
    assert [found[pattern[part]] for part in parts] == [
        "error", "train.py", "5", "1", "aten::log made -inf",
    ]  # fmt: skip
    # The column counts from 1, as the editor's does.
    assert TRAIN.splitlines()[4][0:].startswith("torch.log(p)")


def test_the_matcher_finds_a_file_in_deep_folders(tmp_path: Path) -> None:
    """A place that is cut names a file that does not exist."""
    task = json.loads((EXAMPLES / "vscode/tasks.json").read_text())["tasks"][0]
    pattern = task["problemMatcher"]["pattern"]
    folder = tmp_path / "src/models/transformers/experiments/pretraining"
    folder.mkdir(parents=True)
    program = folder / "train_language_model_with_a_long_name.py"
    program.write_text(TRAIN)
    line = [NANSCOPE, "run", "--no-color", program.relative_to(tmp_path)]
    said = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True).stderr
    (found,) = [m for one in said.splitlines() if (m := re.search(pattern["regexp"], one))]
    assert (tmp_path / found[pattern["file"]]).samefile(program)
    assert found[pattern["message"]] == "aten::log made -inf"


def test_the_steps_of_the_workflow_run(tmp_path: Path) -> None:
    text = (EXAMPLES / "github_workflow.yml").read_text()
    steps = [block or line for block, line in SHELL_STEP.findall(text)]
    install, training, report = steps
    assert install.startswith("pip install")
    (tmp_path / "train.py").write_text(TRAIN)
    environment = {"PATH": f"{Path(NANSCOPE).parent}:/usr/bin:/bin"}

    def shell(step: str) -> int:
        line = ["bash", "-e", "-c", step]
        return subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True).returncode

    assert shell(training) == 3
    assert shell(report) == 0
    sarif = json.loads((tmp_path / "nanscope.sarif").read_text())
    (result,) = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "train.py"
    assert place["region"]["startLine"] == 5


def test_the_command_file_drives_what_there_is() -> None:
    done = subprocess.run([NANSCOPE, "agent-command"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    _, head, body = done.stdout.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["argument-hint"] == "[file_or_layer_name]"
    assert "$ARGUMENTS" in body
    for part in ("First Bad Operation", "Root Cause", "Input Statistics", "Fix", "Verification"):
        assert f"**{part}**" in body
    # Every option that it names is one of the verb's.
    for verb in ("run", "fix"):
        usage = subprocess.run([NANSCOPE, verb, "-h"], capture_output=True, text=True).stdout
        for words in re.findall(rf"nanscope {verb} ([^`\n]*)", body):
            for option in re.findall(r"--[a-z-]+", words):
                assert option in usage, f"{verb} {option}"
