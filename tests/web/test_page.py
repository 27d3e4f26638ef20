"""The report page in a real Chromium: it shows what the JSON says, and does nothing else."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import page_captures as captures
import pytest

from nanscope import _core
from watched import NANSCOPE, ROOT

HERE = Path(__file__).parent
COUNTS = ["zeros", "negatives", "subnormals", "nan", "pos_inf", "neg_inf"]
QUANTITIES = [
    "loss",
    "gradient_norm",
    "largest_parameter",
    "update_ratio",
    "learning_rate",
    "loss_scale",
]
MADE = {
    "clean": captures.clean_run,
    "unknown": captures.not_fully_watched,
    "cut_off": lambda: captures.cut_off(captures.golden("forward").read_bytes()),
    "hostile": captures.hostile,
}


def nanscope(*words: object) -> str:
    command = [str(word) for word in (NANSCOPE, *words)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def drive(folder: Path, plan: dict) -> dict:
    plan = {
        "modules": str(ROOT / "build/web-tests"),
        "browser": shutil.which("chromium"),
        "pages": {},
        **plan,
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run(
        ["node", HERE / "drive.mjs", folder / "plan.json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {name: captures.golden(name) for name in captures.CHOSEN}
    for name, (program, options) in captures.PROGRAMS.items():
        found[name] = folder / f"{name}.nsc"
        command = [NANSCOPE, "run", "-q", *options, "-o", found[name], HERE / "programs" / program]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 3, done.stderr
    found["hostile_pictures"] = folder / "hostile_pictures.nsc"
    capture = captures.with_hostile_pictures(found["pictures"].read_bytes())
    found["hostile_pictures"].write_bytes(capture)
    found["repaired"] = folder / "repaired.nsc"
    captures.repaired(found["repaired"])
    for name, make in MADE.items():
        found[name] = folder / f"{name}.nsc"
        found[name].write_bytes(make())
    return found


@pytest.fixture(scope="module")
def documents(files: dict[str, Path]) -> dict[str, dict]:
    return {
        name: json.loads(nanscope("report", path, "--to", "json")) for name, path in files.items()
    }


@pytest.fixture(scope="module")
def seen(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What one Chromium saw of every page."""
    folder = tmp_path_factory.mktemp("html")
    pages = {name: folder / f"{name}.html" for name in [*files, "several", "ranks"]}
    for name, path in files.items():
        nanscope("report", path, "-o", pages[name])
    nanscope("report", *files.values(), "-o", pages["several"])
    nanscope("report", *captures.RANKS, "-o", pages["ranks"])
    sizes = {name: page.stat().st_size for name, page in pages.items()}
    assert max(sizes.values()) < 1_000_000, sizes
    plan = {
        "pages": {name: str(page) for name, page in pages.items()},
        "use": str(pages["learning_rate"]),
        "useModules": str(pages["pictures"]),
        "useRanks": str(pages["ranks"]),
    }
    return drive(folder, plan)


def test_nothing_is_said_asked_for_or_thrown(seen: dict) -> None:
    assert len(seen["pages"]) >= 12
    used = [(name, seen[name]) for name in ("used", "usedModules", "usedRanks")]
    for name, page in [*seen["pages"].items(), *used]:
        assert page["console"] == [], name
        assert page["errors"] == [], name
        assert len(page["requests"]) == 1 and page["requests"][0].startswith("file://"), name


def test_axe_finds_nothing(seen: dict) -> None:
    found = {name: page["axe"] for name, page in seen["pages"].items()}
    assert {n: a for n, a in found.items() if a["light"] or a["dark"]} == {}


def test_no_page_is_wider_than_its_window(seen: dict) -> None:
    wide = [n for n, p in seen["pages"].items() if p["light"]["overflow"] or p["narrowOverflow"]]
    assert wide == []


def test_no_line_ends_inside_a_number(seen: dict) -> None:
    torn = {n: (p["light"]["torn"], p["narrowTorn"]) for n, p in seen["pages"].items()}
    assert {n: times for n, times in torn.items() if any(times)} == {}


def same(shown: str, value: object) -> bool:
    if isinstance(value, int | float):
        return float(shown) == value
    return shown == ("" if value is None else value)


def test_numbers_are_those_of_the_json(seen: dict, documents: dict[str, dict]) -> None:
    compared = 0
    for name in captures.CHOSEN:
        page, finding = seen["pages"][name]["light"], documents[name]["findings"][0]
        tensors = {t["name"] or t["argument"]: t for t in [*finding["outputs"], *finding["inputs"]]}
        assert page["tensors"] or not tensors, name
        for card in page["tensors"]:
            tensor = tensors[card["name"]]
            shown = {label: value for label, value in card["rows"]}
            for key in ["min", "max", "mean"]:
                assert same(shown[key], tensor[key]), (name, card["name"], key)
            labels = ["zeros", "negatives", "subnormals", "NaN", "+Inf", "-Inf"]
            for label, key in zip(labels, COUNTS, strict=True):
                assert same(shown[label], tensor[key]), (name, card["name"], key)
            failing = zip(card["failing"], tensor["at_index"], strict=True)
            assert all(same(a, b) for a, b in failing)
            compared += 1
        coverage = documents[name]["coverage"]
        expected = [coverage[key] for key in ["ops_watched", "bytes_scanned", "steps"]]
        assert [int(value) for value in page["coverage"]] == expected
    assert compared >= 12


def test_the_history_is_that_of_the_json(seen: dict, documents: dict[str, dict]) -> None:
    drawn = 0
    for name in captures.CHOSEN:
        page, finding = seen["pages"][name]["light"], documents[name]["findings"][0]
        steps = finding["history"]
        known = [q for q in QUANTITIES if any(step[q] is not None for step in steps)]
        expected = [[str(step["step"]), *(step[q] for q in known)] for step in steps]
        assert len(page["history"]) == len(expected), name
        for shown, row in zip(page["history"], expected, strict=True):
            assert shown[0] == row[0]
            assert all(same(a, b) for a, b in zip(shown[1:], row[1:], strict=True)), name
        drawn += page["curves"]
    assert drawn > 10


def test_the_answer_comes_first_and_the_parts_in_order(
    seen: dict, documents: dict[str, dict]
) -> None:
    for name in captures.CHOSEN:
        page, finding = seen["pages"][name]["light"], documents[name]["findings"][0]
        told = finding["cause"].get("title") or finding["cause"]["sentence"]
        assert page["h1"] == told.replace("`", ""), name
        titles = ["First Bad Operation", "Root Cause", "Input Statistics", "Fix", "Verification"]
        assert [title for title in page["sections"] if title in titles] == titles, name
        if finding["origin"]["site"]["end_col"] > 0:
            code = finding["origin"]["site"]["code"]
            assert page["marked"].split() == code.split(), name
        if finding["fix"]:
            assert page["diff"] == finding["fix"]["diff"], name


def test_the_way_is_that_of_the_chain(seen: dict, documents: dict[str, dict]) -> None:
    for name in captures.CHOSEN:
        page, finding = seen["pages"][name]["light"], documents[name]["findings"][0]
        roles = [link["role"] for link in finding["chain"]]
        assert [role for role, _ in page["journey"]][: len(roles)] == roles, name
        assert page["journey"][-1] == ["harm", page["journey"][-1][1]], name
        stops = len(page["journey"]) + len(page["cleaned"])
        assert page["dots"] == (stops if stops >= 3 else 0), name  # two are no graph


def test_every_op_on_the_way_has_its_shape_and_size(seen: dict, documents: dict[str, dict]) -> None:
    page, finding = seen["pages"]["pictures"]["light"], documents["pictures"]["findings"][0]
    links = [link for link in finding["chain"] if link["role"] != "harm"]
    assert len(page["sizes"]) == len(links) + len(finding["cleaned"]) > 10
    for shown, link in zip(page["sizes"], [*links, *finding["cleaned"]], strict=True):
        made = link["made"]
        assert shown.startswith(f"{made['dtype']} {made['shape']}")
        bad = sum(made[kind] for kind in ("nan", "pos_inf", "neg_inf"))
        numel = math.prod(made["shape"])
        if 0 < bad < numel:
            assert f"{bad:,} of {numel:,} not finite" in shown
    birth = finding["outputs"][0]
    assert links[0]["made"]["largest"] == max(abs(birth["min"]), abs(birth["max"]))


def test_each_cleaned_branch_leaves_the_op_it_comes_from(
    seen: dict, documents: dict[str, dict]
) -> None:
    page, finding = seen["pages"]["branches"]["light"], documents["branches"]["findings"][0]
    assert [link["role"] for link in finding["chain"][:2]] == ["birth", "carrier"]
    log, mul = "aten::log", "aten::mul"
    assert page["branches"] == [
        [log, "aten::exp"], [log, "aten::sigmoid"], [mul, "aten::tanh"], [mul, "aten::relu"],
        [mul, "aten::atan"], [log, "aten::erf"], [log, "aten::softplus"], [mul, "aten::elu"],
    ]  # fmt: skip
    assert finding["cleaned_more"] == 2
    assert page["cleanedMore"].startswith("2 more places")


def test_what_is_intended_is_listed_with_what_became_of_it(
    seen: dict, documents: dict[str, dict]
) -> None:
    told = documents["branches"]["coverage"]["intended"]
    assert [(one["op"], one["value"], one["count"], one["fate"]) for one in told] == [
        ("aten::masked_fill", "-inf", 1, "cleaned")
    ]
    (row,) = seen["pages"]["branches"]["light"]["intended"]
    assert row[0].endswith("branches.py:17:10") and row[1].endswith('float("-inf"))')
    assert row[2:] == ["-inf", "cleaned: a later operation made it finite again", "1"]


def test_what_was_tried_and_how_it_was_verified(seen: dict, documents: dict[str, dict]) -> None:
    page, finding = seen["pages"]["repaired"]["light"], documents["repaired"]["findings"][0]
    assert page["diff"] == finding["fix"]["diff"]
    assert len(page["tried"]) == len(finding["tried"]) >= 2
    for shown, one in zip(page["tried"], finding["tried"], strict=True):
        told = f"{one['id']} {one['status']}: {one['detail']}"
        assert shown == told.replace("`", "")
    verification = finding["verification"]
    assert page["status"] == "Verified" and verification["status"] == "verified"
    assert page["checks"] == [check.replace("`", "") for check in verification["checks"]]
    before, after = verification["losses_before"], verification["losses_after"]
    assert page["lossCurves"] == 1 and len(page["losses"]) == max(len(before), len(after)) > 2
    for i, (step, *losses) in enumerate(page["losses"]):
        assert int(step) == verification["first_loss"] + i
        both = [(after[i : i + 1] or [None])[0], (before[i : i + 1] or [None])[0]]
        assert all(same(shown, loss) for shown, loss in zip(losses, both, strict=True))


def test_what_did_no_harm_is_listed_with_the_reason(seen: dict, documents: dict[str, dict]) -> None:
    told = 0
    for name in [*captures.CHOSEN, *captures.PROGRAMS]:
        others = [f for f in documents[name]["findings"][1:] if f["level"] != "error"]
        notes = seen["pages"][name]["light"]["notes"]
        assert [row[:2] for row in notes] == [[f["level"], f["cause"]["id"]] for f in others], name
        assert all(why for _, _, why in notes), name
        told += len(notes)
    assert told >= 3


def test_every_quantity_has_its_curve(seen: dict, documents: dict[str, dict]) -> None:
    history = documents["amp"]["findings"][0]["history"]
    assert all(len({step[quantity] for step in history}) > 1 for quantity in QUANTITIES)
    assert seen["pages"]["amp"]["light"]["curves"] == len(QUANTITIES)


def test_pictures_count_what_the_json_counts(seen: dict, documents: dict[str, dict]) -> None:
    page, finding = seen["pages"]["pictures"]["light"], documents["pictures"]["findings"][0]
    tensors = [*finding["inputs"], *finding["outputs"]]
    assert [card["name"] for card in page["pictures"]] == [tensor["name"] for tensor in tensors]
    for card, tensor in zip(page["pictures"], tensors, strict=True):
        bad = tensor["nan"] + tensor["pos_inf"] + tensor["neg_inf"]
        numel = tensor["exponents"]["looked_at"]
        assert numel == math.prod(tensor["shape"])
        others = tensor["zeros"] + tensor["subnormals"] + bad
        assert sum(tensor["exponents"]["bins"]) + others == numel
        assert sum(card["columns"]) == numel
        assert card["bad"] == (str(bad) if bad else None)
    assert [card["pattern"] for card in page["pictures"]] == [None, None, "Scattered"]
    image = {c["name"]: c["pattern"] for c in seen["pages"]["image"]["light"]["pictures"]}
    assert image["output 0"] == "At every place in 3 of 12"  # the colours of one image of four
    assert page["cleaned"] == ["aten::clamp"]
    site = finding["origin"]["site"]
    assert page["around"] == len(site["before"]) + len(site["after"]) == 8


def test_modules_are_told_by_their_head_room(seen: dict, documents: dict[str, dict]) -> None:
    finding = documents["pictures"]["findings"][0]
    labels = seen["pages"]["pictures"]["light"]["modules"]
    assert [label.split(",")[0] for label in labels] == [m["path"] for m in finding["modules"]]
    embed = next(m for m in finding["modules"] if m["path"] == "model.embed")
    assert embed["activation_dtype"] == embed["weight_dtype"] == "float16"
    left = 16 - math.log2(max(embed["activation"], embed["weight"]))
    assert f"model.embed, Linear, {left:.1f} doublings left" in labels
    did = seen["usedModules"]["did"]
    assert did["found"] == [sum("attention" in m["path"] for m in finding["modules"]), 0]
    assert did["walkedTo"] == "1"
    division = "carrier, aten::div, scores / q.shape[-1] ** 0.5, float16 [8, 24, 24]"
    assert did["wayWalkedTo"].startswith(division) and did["wayShown"] == ["carrier"]
    assert did["visible"][0] == len(labels) == did["visible"][2] > did["visible"][1]
    assert did["rows"] == len(labels)
    assert did["colours"] == ["cell little", "cell gone"]


def test_thousands_of_modules_fit(seen: dict, documents: dict[str, dict]) -> None:
    finding = documents["many_modules"]["findings"][0]
    kept, left = len(finding["modules"]), finding["modules_left_out"]
    assert kept == 4096 and kept + left == 5002
    assert len(seen["pages"]["many_modules"]["light"]["modules"]) == kept


def test_ranks_are_told_as_one(seen: dict) -> None:
    page = seen["pages"]["ranks"]["light"]
    merged = json.loads(nanscope("merge", "--json", *captures.RANKS))
    finding = merged["findings"][0]
    assert page["h1"] == finding["cause"]["title"].replace("`", "")
    ways = [finding["chain"], *(way["chain"] for way in finding["received_by"])]
    assert len(page["tracks"]) == len(ways) == 3
    rank = finding["origin"]["rank"]
    others = sorted(set(range(3)) - {rank})
    titles = [f"On rank {rank}, which made it"]
    titles += [f"On rank {other}, which received it in " for other in others]
    for track, title, way in zip(page["tracks"], titles, ways, strict=True):
        assert track["title"].startswith(title)
        assert track["roles"][: len(way)] == [link["role"] for link in way]
    assert page["dots"] == sum(len(track["roles"]) for track in page["tracks"])
    lines = [line["sentence"] for line in merged["ranks"]]
    assert [row[1] for row in page["ranks"]] == [line.replace("`", "") for line in lines]
    # A rank that is not the origin's leads to its own finding.
    assert [bool(row[3]) for row in page["ranks"]] == [r != rank for r in range(3)]
    assert seen["usedRanks"]["did"]["heading"] != page["h1"]


def test_a_sentinel_run_has_a_page(seen: dict, documents: dict[str, dict]) -> None:
    page, document = seen["pages"]["sentinel"]["light"], documents["sentinel"]
    assert document["program"]["mode"] == "sentinel"
    finding = document["findings"][0]
    told = finding["cause"].get("title") or finding["cause"]["sentence"]
    assert page["h1"] == told.replace("`", "")
    assert finding["origin"]["op"] == "aten::log" and page["modules"]


def test_a_run_without_findings_has_a_page(seen: dict) -> None:
    assert seen["pages"]["clean"]["light"]["h1"].startswith("Clean")
    assert seen["pages"]["unknown"]["light"]["h1"].startswith("NOT FULLY WATCHED")
    assert seen["pages"]["unknown"]["light"]["deed"].startswith("Nothing bad was seen")
    assert "Coverage" in seen["pages"]["clean"]["light"]["sections"]


def test_several_captures_are_one_page(seen: dict, documents: dict[str, dict]) -> None:
    listed = seen["pages"]["several"]["light"]["list"]
    assert len(listed) >= sum(len(document["findings"]) for document in documents.values())


def test_nothing_in_a_capture_can_run_script(seen: dict, documents: dict[str, dict]) -> None:
    page = seen["pages"]["hostile"]
    assert page["console"] == page["errors"] == []
    assert "<script>" in documents["hostile"]["findings"][0]["headline"]  # it was there to try
    assert page["light"]["marked"].startswith("<img src=x onerror=")
    assert page["light"]["title"] == "nanscope: </script><script>window.pwned=1</script>"
    drawn = seen["pages"]["hostile_pictures"]
    assert drawn["console"] == drawn["errors"] == []
    assert any(label.startswith("<img src=x onerror=") for label in drawn["light"]["modules"])
    site = documents["hostile_pictures"]["findings"][0]["origin"]["site"]
    assert any("<script>pwned()" in line for line in site["before"])


@pytest.fixture(scope="module")
def mutants(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable:
    def look(seeds: range) -> tuple[int, dict]:
        """How many mutated captures have a page, and what Chromium saw of those."""
        folder, pages = tmp_path_factory.mktemp("mutants"), {}
        for seed in seeds:
            real = files[["pictures", "amp", "forward", "learning_rate"][seed % 4]]
            capture, page = folder / f"{seed}.nsc", folder / f"{seed}.html"
            captures.mutated(real, seed, capture)
            command = [NANSCOPE, "report", capture, "-o", page]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode in (0, 2), (seed, done.stderr)
            assert done.returncode == 0 or done.stderr.startswith("nanscope: "), (seed, done.stderr)
            if done.returncode == 0:
                pages[str(seed)] = str(page)
        return len(pages), drive(folder, {"glance": pages})["glanced"]

    return look


def check_mutants(found: tuple[int, dict], at_least: int) -> None:
    number, glanced = found
    assert number >= at_least
    for seed, page in glanced.items():
        assert page["console"] == page["errors"] == [], seed
        assert len(page["requests"]) == 1, seed
        assert not page["pwned"] and page["h1"], seed


def test_a_mutated_capture_is_a_page_or_a_sentence(mutants: Callable) -> None:
    check_mutants(mutants(range(12)), 4)


@pytest.mark.release
def test_no_mutated_capture_breaks_the_page(mutants: Callable) -> None:
    check_mutants(mutants(range(12, 212)), 70)


def test_the_types_of_the_page_hold(tmp_path: Path) -> None:
    settings = {"extends": str(ROOT / "web/tsconfig.json"), "include": [f"{ROOT}/build/web/src"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))
    compiler = ROOT / "build/web-tests/node_modules/typescript/bin/tsc"
    done = subprocess.run(["node", compiler, "-p", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_everything_can_be_used(seen: dict, documents: dict[str, dict]) -> None:
    did, document = seen["used"]["did"], documents["learning_rate"]
    assert did["firstFocus"] == "skip" and did["secondFocus"] == "theme"
    assert did["themes"][0] != did["themes"][1]
    assert did["jumpedTo"] == "fix"
    assert did["copied"] == document["findings"][0]["fix"]["diff"]
    assert did["command"].startswith("nanscope fix --from ")
    assert did["hovered"] not in ("", "–")
    assert did["zoomed"] == [False, True, False]
    assert did["found"] == [len(document["findings"]), 1, 0]
    assert did["headings"][0] != did["headings"][1]
    assert did["focusAfter"] == "main"
    assert did["printed"] == did["printOverflow"] == 0
    # On paper a dark page is light and unfolded, and is dark and folded again afterwards.
    assert did["onPaper"] == ["light", 0] and did["afterPrint"][0] == "dark"
    assert did["afterPrint"][1] > 0


@pytest.mark.parametrize("broken", [b"", b"no capture", "newer", "damaged"])
def test_what_is_no_capture_is_said_in_a_sentence(broken: bytes | str, tmp_path: Path) -> None:
    capture = captures.golden("forward").read_bytes()
    if broken == "newer":
        import struct
        import zlib

        head = capture[:8] + struct.pack("<I", 9)
        broken = head + struct.pack("<I", zlib.crc32(head)) + capture[16:]
    elif broken == "damaged":
        broken = capture[:200] + b"\xff" + capture[201:]
    (tmp_path / "x.nsc").write_bytes(broken)
    done = subprocess.run(
        [NANSCOPE, "report", "x.nsc", "-o", "x.html"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stderr.startswith("nanscope: ")
    assert not (tmp_path / "x.html").exists()


def page_of_run(folder: Path, code: str) -> dict:
    """The data of the page that a run writes, and its exit status."""
    done = subprocess.run(
        [NANSCOPE, "run", "-q", "--html", "page.html", "-c", code], cwd=folder, capture_output=True
    )
    text = (folder / "page.html").read_text()
    begin = text.index('id="data">') + len('id="data">')
    report = json.loads(text[begin : text.index("</script>", begin)])["reports"][0]
    return {**report, "status": done.returncode}


def test_a_run_writes_its_page(tmp_path: Path) -> None:
    code = (
        "import os, torch\n"
        "x = torch.zeros(3, requires_grad=True)\n"
        "os.chdir('/')\n"
        "loss = x.log().sum()\n"
        "loss.backward()\n"
        "torch.optim.SGD([x], 0.1).step()\n"
    )
    report = page_of_run(tmp_path, code)
    assert report["status"] == 3
    assert report["findings"][0]["cause"]["id"] == "log_of_zero"
    assert report["capture"].endswith(".nsc")


def test_a_run_without_torch_has_a_page_too(tmp_path: Path) -> None:
    report = page_of_run(tmp_path, "pass")
    assert report["status"] == 0
    assert report["findings"] == [] and report["capture"] == ""


def test_a_page_that_cannot_be_written_is_refused_before_the_program_starts(tmp_path: Path) -> None:
    command = [NANSCOPE, "run", "--html", "no/such/page.html", "-c", "print('ran')"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert "--html no/such/page.html cannot be written" in done.stderr


def test_the_wheel_carries_the_page() -> None:
    files = importlib.metadata.files("nanscope") or []
    (page,) = [file for file in files if str(file) == "nanscope/_web/report.html"]
    assert "<!--nanscope:data-->" in Path(page.locate()).read_text()


def test_without_the_page_a_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    """As where it was built without node."""
    package = Path(_core.__file__).parent
    left_out = shutil.ignore_patterns("_web", "_torch_*", "__pycache__")
    shutil.copytree(package, tmp_path / "nanscope", ignore=left_out)
    capture = captures.golden("forward")
    command = [sys.executable, "-m", "nanscope", "report", capture, "-o", "x.html"]
    there = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 2 and not (tmp_path / "x.html").exists()
    (said,) = done.stderr.splitlines()
    assert said.startswith(
        "nanscope: this nanscope was built without the report page; install node"
    )
    assert "`nanscope report --to text`" in said
