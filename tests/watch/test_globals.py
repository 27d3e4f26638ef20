"""The mutable state of the adapters is listed in one table, and there is little of it.

Counted strictly: a global object is one thing only if its state is private. Each member that anyone
may write counts for itself, in the object and in what its public functions give out by reference.
"""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADAPTER = ROOT / "adapters/torch"
MOST = {"torch": 15, "python": 4}

# A leaked singleton, any other variable of a function or a class that outlives a call, a variable
# of each thread, and a variable at the level of the file.
SINGLETON = re.compile(r"^\s*static auto& \w+ = \*new ((\w+));", re.MULTILINE)
OF_A_FUNCTION = re.compile(
    r"^\s+static (?!const|auto&|auto\* const)((?:\w|::|<[^;()]*>)+[*&]*) (\w+)"
    r"(?: =[^;]*|\{[^;]*\})?;",
    re.MULTILINE,
)
OF_EACH_THREAD = re.compile(r"^\s*(?:__thread|thread_local) (\S+) (\w+)(?: =[^;]*)?;", re.MULTILINE)
OF_THE_FILE = re.compile(
    r"^(?!using|return|extern|namespace)([A-Za-z_][\w:<>]*\*?) (\w+)(?: = [^;]*|\{[^;]*\})?;$",
    re.MULTILINE,
)
OF_THE_CLASS = re.compile(r"^((\w+))\* const \1::\w+ = new \1;", re.MULTILINE)
OF_ALL_OF_A_CLASS = re.compile(
    r"^(?!const|return|using)([A-Za-z_][\w:<>]*\*?) (\w+::\w+)(?: = [^;]*|\{[^;]*\})?;$",
    re.MULTILINE,
)

CLASS = re.compile(r"\b(class|struct) (\w+)(?: final)?(?: : [^{;]*)?\s*\{")
NO_MEMBER = re.compile(r"\s*(?:using|friend|static|typedef|template|struct|class|enum|const)\b")
GIVEN_OUT = re.compile(r"(?<!const )\b(\w+)& \w+\(")


def state_of(text: str) -> dict[str, str]:
    """Names of what is global and mutable, with their types."""
    patterns = (
        SINGLETON,
        OF_A_FUNCTION,
        OF_EACH_THREAD,
        OF_THE_FILE,
        OF_THE_CLASS,
        OF_ALL_OF_A_CLASS,
    )
    return {name: of for pattern in patterns for of, name in pattern.findall(text)}


def body_at(text: str, start: int) -> str:
    """What stands between the brace at `start` and its partner."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1 : i]
    raise AssertionError(f"a brace is never closed: {text[start:][:80]}")


def statements_of(body: str) -> str:
    """A class without comments, and without what stands in braces inside it."""
    kept, i = "", 0
    while i < len(body):
        if body[i] != "{":
            kept += body[i]
            i += 1
            continue
        i += len(body_at(body, i)) + 2
        is_function = "(" in kept[max(kept.rfind(";"), kept.rfind(":\n")) + 1 :]
        kept += ";" if is_function else ""
    return kept


def public_part(kind: str, body: str) -> list[str]:
    label = re.compile(r"^ *(public|private|protected):$", re.MULTILINE)
    parts = label.split(statements_of(body))
    access = ["public" if kind == "struct" else "private", *parts[1::2]]
    texts = zip(access, parts[0::2], strict=True)
    return [s.strip() for at, text in texts if at == "public" for s in text.split(";")]


def is_mutable_member(statement: str) -> bool:
    plain = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", statement)).split("=")[0]
    is_named = re.search(r"[\w>&*]\s+\*?\w+(\[\w*\])*\s*$", plain)
    return bool(is_named) and "(" not in plain and not NO_MEMBER.match(plain)


def classes_of(text: str) -> dict[str, list[str]]:
    """What is public of each class."""
    text = re.sub(r"//.*", "", text)
    found = {}
    for match in CLASS.finditer(text):
        found[match[2]] = public_part(match[1], body_at(text, match.end() - 1))
    return found


def members_anyone_may_write(
    name: str, classes: dict[str, list[str]], seen: set[str] | None = None
) -> list[str]:
    seen = set() if seen is None else seen
    if name in seen or name not in classes:
        return []
    seen.add(name)
    found = []
    for statement in classes[name]:
        if is_mutable_member(statement):
            found.append(f"{name}: {statement}")
        for given in GIVEN_OUT.findall(statement):
            found += members_anyone_may_write(given, classes, seen)
    return found


def sources(adapter: str = "*") -> list[Path]:
    files = (ROOT / "adapters").glob(f"{adapter}/**/*")
    files = [file for file in files if file.suffix in (".cc", ".h")]
    return [file for file in files if not file.name.endswith("_test.cc")]


def found(adapter: str = "*") -> dict[tuple[str, str], str]:
    return {
        (name, os.path.relpath(file, ADAPTER)): of.strip("*")
        for file in sources(adapter)
        if file.suffix == ".cc"
        for name, of in state_of(file.read_text()).items()
    }


def listed() -> set[tuple[str, str]]:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", (ADAPTER / "globals.md").read_text(), re.M)
    return set(rows)


def test_the_table_lists_what_there_is() -> None:
    assert set(found()) == listed()


@pytest.mark.parametrize("adapter", MOST)
def test_it_is_little(adapter: str) -> None:
    files = [*sources(), *(ROOT / "src").rglob("*.h")]
    classes = {k: v for file in files for k, v in classes_of(file.read_text()).items()}
    count = 0
    written = []
    for (name, _), of in found(adapter).items():
        # A call is a local of its wrapper: what is global is the way to it.
        members = [] if name == "innermost_call" else members_anyone_may_write(of, classes)
        count += max(1, len(members))
        written += members
    assert count <= MOST[adapter], written
    assert {"Judge", "WrittenStorages", "ThreadWatch", "Sentinel", "Stacks"} <= set(classes)


def test_no_form_of_a_global_variable_is_overlooked() -> None:
    found = state_of("""
int of_the_file = 0;
const int kConstant = 0;
using c10::DispatchKey;
std::size_t Spare::held_ = 0;
const int Spare::kMost = 4;
Watcher* const Watcher::instance_ = new Watcher;
__thread Call* innermost = nullptr;
Other& other() {
  static auto& all = *new Other;
  static Counts counts;
  static std::map<int, std::string> names{{1, "one"}};
  static const Fixed fixed;
  static constexpr int kFew = 3;
  return all;
}
""")
    assert set(found) == {
        "of_the_file", "Spare::held_", "Watcher", "innermost", "Other", "counts", "names"
    }  # fmt: skip


def test_members_that_anyone_may_write_are_counted_singly() -> None:
    classes = classes_of("""
        struct Open {
          int level = 0;  // int not_this;
          std::map<int, std::vector<int>> table{{1, {}}};
          static constexpr int kMost = 3;
          const Ledger& ledger = judge.ledger();
          [[nodiscard]] bool any() const { int local = level; return local != 0; }
          struct Entry { int of_entry; };
          std::atomic<int> count{0};
          int slots[kMost] = {};
        };
        class Closed final : public Base {
         public:
          Open& open() noexcept { return open_; }
          const Open& seen() const;
          void set(int level);
         private:
          Open open_;
          int level_ = 0;
        };
        class Quiet {
         public:
          const Open& seen() const;
         private:
          Open open_;
        };
    """)
    mutable = members_anyone_may_write("Open", classes)
    assert [m.split(": ")[1].split()[1].split("{")[0] for m in mutable if "map" not in m] == [
        "level",
        "count",
        "slots[kMost]",
    ]
    assert len(mutable) == 4
    assert members_anyone_may_write("Closed", classes) == mutable
    assert members_anyone_may_write("Quiet", classes) == []
