"""Writes abi_classes.inc: one line for every ABI class of signature that an ATen op has.

    generate_abi_classes.py <torch include folder> <abi_classes.inc>

The class of a signature is read again at run time from the type the dispatcher keeps
for each op (signature.cc); this list only decides which trampolines are compiled. An op
whose class is not in it is watched through the boxed wrapper.
"""

import pathlib
import re
import sys

SCHEMA = re.compile(r"using schema = (.*?);\n")
TWO_WORDS = {
    "at::TensorList",
    "c10::SymIntArrayRef",
    "at::IntArrayRef",
    "::std::optional<int64_t>",
    "c10::string_view",
    "at::ArrayRef<at::Scalar>",
    "at::DimnameList",
}
OPTIONAL_VIEWS = {"::std::optional<c10::string_view>", "::std::optional<at::DimnameList>"}


def argument_class(text):
    if text.endswith("&"):
        return "W"
    if text in TWO_WORDS:
        return "P"
    if text == "double":
        return "D"
    if text == "::std::optional<double>":
        return "O"
    if ("ArrayRef" in text and "ptional" in text) or text in OPTIONAL_VIEWS:
        return "M"
    return "W"


def split_arguments(text):
    parts, depth, current = [], 0, ""
    for character in text:
        depth += character in "<("
        depth -= character in ">)"
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return parts + [current.strip()] if current.strip() else parts


def return_class(text):
    if text == "void":
        return "V"
    if text.startswith("::std::tuple<at::Tensor &"):
        return f"Q{text.count('&')}"
    if text.endswith("&"):
        return "R"
    return "S" if "Tensor" in text else None


def abi_classes_of(schema):
    """The int form and the SymInt form of one signature."""
    cut = schema.index(" (")
    returned = return_class(schema[:cut].strip())
    if returned is None:
        return
    arguments = split_arguments(schema[cut + 2 : -1])
    for symbolic in (False, True):
        yield (
            returned,
            tuple(
                ("W" if symbolic else "P")
                if a == "::std::optional<c10::SymInt>"
                else argument_class(a)
                for a in arguments
            ),
        )


def main(include, out):
    found = set()
    for header in sorted(pathlib.Path(include, "ATen", "ops").glob("*_ops.h")):
        for schema in SCHEMA.findall(header.read_text()):
            found.update(abi_classes_of(schema))
    lines = [
        f'ABI_CLASS("{returned}:{"".join(classes)}", {", ".join((returned, *classes))})\n'
        for returned, classes in sorted(found)
    ]
    # Extra classes of ops that give a number to the host: item() and its kin.
    pathlib.Path(out).write_text("".join(lines))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
