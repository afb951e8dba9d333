#!/usr/bin/env python3
"""Counts the kernel files of two commits that have the same code: equal but for comments, includes and consistently renamed identifiers.

bench/same_code.py OLD [NEW]      files under a host/ folder and .cl files of src/, per module; lists the files that differ
"""
import collections
import re
import subprocess
import sys

KEPT = set("auto bool char class const constexpr double else float for if inline int namespace private public return size_t static "
           "struct template typename unsigned using void while".split())


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def code(commit, path):
    """Tokens, each identifier replaced by the number of its first occurrence."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", git("show", f"{commit}:{path}"), flags=re.S)
    text = re.sub(r"^\s*#\s*(include|undef|pragma|define HWY_)[^\n]*", "", text, flags=re.M)
    seen = {}
    tokens = re.findall(r'[A-Za-z_]\w*|\d[\w.]*|"(?:\\.|[^"\\])*"|\S', text)
    return [t if not re.match("[A-Za-z_]", t) or t in KEPT or t.startswith(("HWY", "hn")) else seen.setdefault(t, len(seen)) for t in tokens]


def main(old, new):
    moved = {}
    for line in git("diff", "-M35%", "-l6000", "--name-status", old, new, "--", "src").splitlines():
        kind, *paths = line.split("\t")
        moved[paths[0]] = None if kind == "D" else paths[-1]
    table = collections.defaultdict(lambda: [0, 0, 0])
    for path in git("ls-tree", "-r", "--name-only", old, "src").splitlines():
        if not (path.endswith(".cl") or "/host/" in path and path.endswith((".cpp", ".hpp"))) or "historical" in path:
            continue
        now = moved.get(path, path)
        row = table["device kernels (.cl)" if path.endswith(".cl") else path.split("/")[1]]
        which = 2 if now is None else 0 if code(old, path) == code(new, now) else 1
        row[which] += 1
        if which:
            print(f"  {path}: {'divided, joined or removed' if now is None else 'differs from ' + now}")
    print("| module | same | changed | divided, joined or removed |\n|---|---|---|---|")
    for module, row in sorted(table.items()):
        print(f"| {module} | {row[0]} | {row[1]} | {row[2]} |")


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "HEAD")
