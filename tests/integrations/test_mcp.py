"""`nanscope mcp` as a client of the SDK meets it: started over stdio, asked, cancelled."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import WITH_PACKAGES

from watched import NANSCOPE, ROOT

PATH = f"{Path(NANSCOPE).parent}{os.pathsep}{WITH_PACKAGES['PATH']}"
TRAIN = """
import sys
import torch

print("on stdout", *sys.argv[1:])
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
for p in ([0.1, 0.2, 0.3], [0.1, float(len(sys.argv) < 2), 0.3]):
    optimizer.zero_grad()
    (w * torch.log(torch.tensor(p))).sum().backward()
    optimizer.step()
"""
ENDLESS = """
import os, signal, torch
with open("pid.new", "w") as file:
    file.write(str(os.getpid()))
os.rename("pid.new", "pid")
while True:
    signal.pause()
"""
# The calls as arguments; answers on stdout, a line of JSON for each.
CLIENT = """
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters

async def main():
    server = StdioServerParameters(**json.loads(sys.argv[1]), env=dict(os.environ))
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        print(json.dumps({tool.name: sorted(tool.input_schema["properties"]) for tool in tools}))
        for name, arguments in json.loads(sys.argv[2]):
            result = await client.call_tool(name, arguments)
            print(json.dumps({
                "error": result.is_error, "fields": result.structured_content,
                "text": "".join(part.text for part in result.content)}), flush=True)

asyncio.run(main())
"""
# Gives a call up once the program runs, and waits for the program's end.
CANCELS = """
import anyio, json, os, sys
from mcp import Client, StdioServerParameters

async def main():
    server = StdioServerParameters(**json.loads(sys.argv[1]), env=dict(os.environ))
    async with Client(server) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"script": "endless.py"})
            while not os.path.exists("pid"):
                await anyio.sleep(0.1)
            group.cancel_scope.cancel()
        number = open("pid").read()
        while os.path.exists(f"/proc/{number}"):
            await anyio.sleep(0.1)
        print(json.dumps(len((await client.list_tools()).tools)))

anyio.run(main)
"""
# What the page tells users to write into the configuration of their client.
(CONFIGURATION,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs/mcp.md").read_text(), re.DOTALL)


def talk(folder: Path, *calls: tuple[str, dict], client: str = CLIENT) -> list:
    (folder / "train.py").write_text(TRAIN)
    (folder / "endless.py").write_text(ENDLESS)
    (server,) = json.loads(CONFIGURATION)["mcpServers"].values()
    done = subprocess.run(
        [sys.executable, "-c", client, json.dumps(server), json.dumps(calls)],
        cwd=folder,
        env={**WITH_PACKAGES, "PATH": PATH},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_an_agent_asks(tmp_path: Path) -> None:
    tools, bad, missing, shown, page, slip = talk(
        tmp_path,
        ("run", {"script": "train.py", "arguments": ["bad"]}),
        ("run", {"script": "missing.py"}),
        ("show", {"capture": "nanscope-train.1.nsc"}),
        ("explain", {"cause": "log_of_zero"}),
        ("explain", {"cause": "log_of_zer"}),
    )
    assert set(tools) == {"run", "show", "explain", "fix"}
    assert {"script", "arguments", "layer", "steps", "timeout_s"} <= set(tools["run"])

    found = bad["fields"]
    assert found["verdict"] == "error" and found["exit_status"] == 3
    assert found["headline"].startswith("train.py:10:10: aten::log made -inf")
    assert found["cause"]["id"] == "log_of_zero"
    assert found["stdout"] == "on stdout bad\n"
    for part in ("First Bad Operation", "Root Cause", "Input Statistics", "Coverage"):
        assert part in found["report"], part
    assert found["capture"] == "nanscope-train.1.nsc"
    assert shown["text"] == found["report"]
    assert missing["error"] and "missing.py does not exist" in missing["text"]
    assert "log(0)" in page["text"] and not page["error"]
    assert slip["error"] and "is log_of_zero meant?" in slip["text"]


@pytest.mark.slow
def test_an_agent_asks_for_a_patch(tmp_path: Path) -> None:
    _, fixed = talk(tmp_path, ("fix", {"script": "train.py", "arguments": ["bad"]}))
    assert fixed["fields"]["exit_status"] in (0, 3)
    assert "clamp" in fixed["fields"]["fix"]["diff"]
    assert (tmp_path / "train.py").read_text() == TRAIN


@pytest.mark.release
def test_a_healthy_program_leaves_nothing_and_an_endless_one_is_interrupted(tmp_path: Path) -> None:
    _, clean, endless = talk(
        tmp_path,
        ("run", {"script": "train.py", "folder": str(tmp_path)}),
        ("run", {"script": "endless.py", "timeout_s": 30}),
    )
    assert clean["fields"]["verdict"] == "clean" and clean["fields"]["exit_status"] == 0
    assert "headline" not in clean["fields"]
    assert not list(tmp_path.glob("nanscope-train*"))
    assert endless["fields"]["interrupted"] is True


@pytest.mark.slow
def test_a_request_that_is_cancelled_ends_its_program(tmp_path: Path) -> None:
    assert talk(tmp_path, client=CANCELS) == [4]  # the server goes on


@pytest.mark.slow
def test_the_example_runs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("len(sys.argv) < 2", "False"))
    done = subprocess.run(
        [sys.executable, ROOT / "examples/integrations/mcp_client.py", "train.py"],
        cwd=tmp_path,
        env={**WITH_PACKAGES, "PATH": PATH},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("error train.py:10:10: aten::log made -inf")
    assert "log(0)" in done.stdout


def test_without_the_sdk_there_is_a_sentence() -> None:
    done = subprocess.run([NANSCOPE, "mcp"], capture_output=True, text=True, input="")
    assert done.returncode == 125
    assert done.stderr == (
        "nanscope mcp needs the MCP SDK, version 2: pip install 'nanscope[mcp]'\n"
    )
    assert done.stdout == ""
