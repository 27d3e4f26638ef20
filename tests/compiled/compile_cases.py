"""Writes a folder of cases anew, with all that each program computes inside a compiled function.

compile_cases.py FROM TO [BACKEND]

FROM holds cases.json (the truths) and programs/ID.py; TO gets the same, so that whoever scores the
one can score the other. The text of a program becomes the body of a function, one line further
down; functions that it calls are compiled too, as dynamo comes to them. What the program keeps
under a name the function returns: the compiler leaves out what nobody asks for.
"""

import json
import sys
from pathlib import Path

HEAD = "def program():\n"
TAIL = "\nimport torch\nresult = torch.compile(program, backend={!r})()\n"


def compiled_form(text: str, backend: str, kept: str | None) -> str:
    if kept:
        text = f"{text.rstrip()}\nreturn {kept}\n"
    indented = "\n".join(f"    {line}" if line.strip() else line for line in text.split("\n"))
    made = HEAD + indented + TAIL.format(backend)
    compile(made, "program", "exec")
    return made


def main(given: Path, made: Path, backend: str = "inductor") -> None:
    cases = json.loads((given / "cases.json").read_text())
    (made / "programs").mkdir(parents=True)
    for case in cases:
        name = f"{case['id']}.py"
        text = (given / "programs" / name).read_text()
        kept = case.get("result", "main")  # `main` prints it
        form = compiled_form(text, backend, None if kept == "main" else kept)
        (made / "programs" / name).write_text(form)
        case["lines"] = [line + 1 for line in case.get("lines", [])]
    (made / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
