"""`nanscope report` and `stats`: what other tools read of real captures."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from watched import NANSCOPE, ROOT, SCHEMA

CAPTURES = sorted((ROOT / "tests/golden").glob("captures/*.nsc")) + sorted(
    (ROOT / "tests/golden").glob("fixes/*.nsc")
)
WEB = ROOT / "build/web-tests/node_modules"
SARIF_SCHEMA = WEB / "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"


def report(*words: object) -> str:
    command = [str(word) for word in (NANSCOPE, "report", *words)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


@pytest.fixture(scope="module")
def documents() -> list[dict]:
    return json.loads(report(*CAPTURES, "--to", "json"))


@pytest.fixture(scope="module")
def sarif(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("sarif") / "nanscope.sarif"
    report(*CAPTURES, "--to", "sarif", "-o", path)
    return path


def test_json_of_every_capture_fits_its_schema(documents: list[dict]) -> None:
    assert len(documents) == len(CAPTURES) >= 20
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for document in documents:
        validator.validate(document)


def test_sarif_fits_the_official_schema(sarif) -> None:
    log = json.loads(sarif.read_text())
    jsonschema.Draft4Validator(json.loads(SARIF_SCHEMA.read_text())).validate(log)


def test_sarif_is_what_another_reader_takes_it_for(sarif, documents: list[dict]) -> None:
    """`sarif-tools` gives the level, place, cause and sentence of each finding."""
    code = (
        "import json, sys; from sarif import loader;"
        "print(json.dumps(loader.load_sarif_file(sys.argv[1]).get_records()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, sarif],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / ".venv/web")},
    )
    found = [(r["Severity"], r["Location"], r["Line"], r["Code"]) for r in json.loads(done.stdout)]
    expected = [
        (
            finding["level"],
            *place_of(finding["origin"]["site"], document["program"]["argv"][0]),
            finding["cause"]["id"],
        )
        for document in documents
        for finding in document["findings"]
    ]
    assert sorted(found) == sorted(expected)


def place_of(site: dict, program: str) -> tuple[str, int]:
    """A warning about weights is about the whole program."""
    return (site["file"], site["line"]) if site["file"] else (program, 1)


def test_every_place_in_sarif_is_one_that_github_takes(sarif) -> None:
    """It refuses a log with a place that has no file, and wants a line, and texts of a rule."""
    (run,) = json.loads(sarif.read_text())["runs"]
    places = [place for r in run["results"] for place in r["locations"]]
    assert len(places) == len(run["results"])
    for result in run["results"]:
        places += result.get("relatedLocations", [])
        for flow in result.get("codeFlows", []):
            steps = [step for thread in flow["threadFlows"] for step in thread["locations"]]
            assert steps
            places += [step["location"] for step in steps]
    for place in places:
        physical = place["physicalLocation"]
        assert physical["artifactLocation"]["uri"] and physical["region"]["startLine"] >= 1
    for rule in run["tool"]["driver"]["rules"]:
        assert all(rule[text]["text"] for text in ("shortDescription", "fullDescription", "help"))


def test_the_fix_of_sarif_is_the_diff(sarif, documents: list[dict]) -> None:
    """Its replacements, done to the file, give what the diff would."""
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    fixes = [change for r in results for f in r.get("fixes", []) for change in f["artifactChanges"]]
    diffs = [f["fix"]["diff"] for d in documents for f in d["findings"] if f["fix"]]
    assert fixes and len(fixes) == sum(len(re.findall(r"^\+\+\+ ", d, re.M)) for d in diffs)
    for change in fixes:
        for replacement in change["replacements"]:
            inserted = replacement["insertedContent"]["text"].splitlines()
            assert any(all(f"+{line}" in diff for line in inserted) for diff in diffs)


def test_csv_holds_the_numbers_of_the_json(documents: list[dict]) -> None:
    rows = list(csv.DictReader(io.StringIO(report(*CAPTURES, "--to", "csv"))))
    names = {document["capture"]: document for document in documents}
    assert {row["capture"] for row in rows} == set(names)
    for row in rows:
        finding = names[row["capture"]]["findings"][int(row["finding"])]
        assert row["cause"] == finding["cause"]["id"]
        if row["record"] == "history":
            step = next(s for s in finding["history"] if s["step"] == int(row["step"]))
            value = step[row["quantity"]]
            assert float(row["value"]) == pytest.approx(float(value), nan_ok=True)


def test_the_trace_fits_the_trace_event_format() -> None:
    schema = json.loads((ROOT / "tests/golden/trace_event.schema.json").read_text())
    trace = json.loads(report(*CAPTURES, "--to", "trace"))
    jsonschema.Draft202012Validator(schema).validate(trace)
    arrows = [event["id"] for event in trace["traceEvents"] if event["ph"] in "sf"]
    assert all(arrows.count(arrow) == 2 for arrow in arrows)


def test_github_lines_are_whole(documents: list[dict]) -> None:
    lines = report(*CAPTURES, "--to", "github").splitlines()
    told = [f for d in documents for f in d["findings"] if f["level"] != "note"]
    assert len(lines) == len(told)
    for line in lines:
        assert re.fullmatch(r"::(error|warning) (\w+=[^,:\r\n]*,)*title=[^,:\r\n]*::[^\r\n]+", line)


def test_stats_counts_what_the_json_has(documents: list[dict]) -> None:
    command = [str(word) for word in (NANSCOPE, "stats", "--json", *CAPTURES)]
    stats = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    for counted, document in zip(stats, documents, strict=True):
        assert counted["ops_watched"] == document["coverage"]["ops_watched"]
        levels = [finding["level"] for finding in document["findings"]]
        assert counted["errors"] == levels.count("error")
        assert counted["notes"] == levels.count("note")


def test_no_capture_is_replaced(tmp_path: Path) -> None:
    """However it is written, and also one that was not read."""
    kept = CAPTURES[0].read_bytes()
    for name in ("a.nsc", "b.nsc"):
        (tmp_path / name).write_bytes(kept)
    (tmp_path / "link").symlink_to("a.nsc")
    for output in ("a.nsc", "./a.nsc", "b.nsc", "link"):
        line = [NANSCOPE, "report", "a.nsc", "-o", output]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2 and f"-o {output} would replace a capture" in done.stderr
    assert (tmp_path / "a.nsc").read_bytes() == (tmp_path / "b.nsc").read_bytes() == kept


def test_the_name_of_a_file_cannot_command_the_terminal(tmp_path: Path) -> None:
    hostile = tmp_path / "x\x1b[31m.nsc"
    hostile.write_bytes(CAPTURES[0].read_bytes())
    for to in ("text", "json", "github", "csv", "trace", "sarif"):
        assert "\x1b" not in report(hostile, CAPTURES[1], "--to", to), to
