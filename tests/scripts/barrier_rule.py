#!/usr/bin/env python3
"""No work-item of a kernel returns before a barrier of the group: PoCL 3.1 without optimization (POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable)
computes wrong values then, although OpenCL allows it if the whole group returns. Code for devices with sub-groups is not read
(#if SUB_GROUP_WIDTH == 32, #if SUB_GROUPS > 1): PoCL has none.

barrier_rule.py ROOT             checks every .cl file of ROOT/src
barrier_rule.py --texts FOLDER   checks every file of FOLDER: texts of generators (tests/device/amd_test.cpp)
barrier_rule.py --self-test      checks the rule on a few texts
"""
import pathlib
import re
import sys

WITH_SUB_GROUPS = re.compile(r"#if (SUB_GROUP_WIDTH (==|>|>=) \d+|(SUB_GROUPS|TOGETHER) > 1)\s*$")
HEAD = re.compile(r"^(KERNEL|FUNCTION)\b[^;{}]*?\{", re.M)
CALL = r"\b(?:{})\w*\s*\("


def without_sub_groups(text):
    """The text with comments and the code for devices with sub-groups removed; lines stay where they are."""
    kept, open_sections = [], []
    for line in re.sub(r"//[^\n]*", "", text).split("\n"):
        if line.startswith("#if"):
            open_sections.append(bool(WITH_SUB_GROUPS.match(line)))
        elif line.startswith(("#else", "#elif")) and open_sections:
            open_sections[-1] = False
        elif line.startswith("#endif") and open_sections:
            open_sections.pop()
        kept.append("" if any(open_sections) or line.startswith("#") else line)
    return "\n".join(kept)


def functions(text):
    """Name, body and first line of every kernel and function."""
    for head in HEAD.finditer(text):
        depth, end = 1, head.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        name = re.findall(r"\b([a-z]\w*)\s*\(", head[0])
        if name:
            yield name[0], text[head.end():end], text.count("\n", 0, head.end()) + 1


def early_returns(text):
    """Function and line of each return before a barrier."""
    found = list(functions(without_sub_groups(text)))
    barriers = {"BARRIER", *re.findall(r"^#define (\w+)\([^\n]*\bBARRIER\(", text, re.M)}
    while True:
        more = barriers | {name for name, body, _ in found if re.search(CALL.format("|".join(barriers)), body)}
        if more == barriers:
            break
        barriers = more
    for name, body, line in found:
        last = max((m.start() for m in re.finditer(CALL.format("|".join(barriers)), body)), default=-1)
        for match in re.finditer(r"\breturn\b", body[:max(last, 0)]):
            yield name, line + body.count("\n", 0, match.start())


def self_test():
    kernel = "KERNEL WORK_GROUP(64, 1, 1) void one(int n) {{\n{}\n}}\n"
    helper = "FUNCTION void meet(int n) {\n  BARRIER();\n}\n"
    assert list(early_returns(kernel.format("  if (n) return;\n  BARRIER();"))) == [("one", 2)]
    assert list(early_returns(helper + kernel.format("  if (n) return;\n  meet(n);"))) == [("one", 5)]
    assert list(early_returns("#define MEET() BARRIER()\n" + kernel.format("  if (n) return;\n  MEET();"))) == [("one", 3)]
    assert not list(early_returns(kernel.format("  BARRIER();\n  if (n) return;")))
    assert not list(early_returns(kernel.format("  // return\n  BARRIER();")))
    assert not list(early_returns(kernel.format("#if SUB_GROUP_WIDTH > 0\n  if (n) return;\n#endif\n  BARRIER();")))
    assert list(early_returns(kernel.format("#if SUB_GROUP_WIDTH == 32\n#else\n  if (n) return;\n#endif\n  BARRIER();")))
    assert list(early_returns(kernel.format("#if CHANNELS == 3\n  if (n) return;\n#endif\n  BARRIER();")))


def main(root, files):
    found = [f"{path.relative_to(root)}:{line}: {name} returns before a barrier" for path in files
             for name, line in early_returns(path.read_text())]
    print("\n".join(found) or f"no kernel of {len(files)} files returns before a barrier")
    return 1 if found or not files else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    folder = pathlib.Path(sys.argv[-1])
    sys.exit(main(folder, sorted(folder.iterdir() if sys.argv[1] == "--texts" else (folder / "src").rglob("*.cl"))))
