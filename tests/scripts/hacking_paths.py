#!/usr/bin/env python3
"""Every path of the tree that HACKING.md names exists, and it lists every environment variable that the code reads: hacking_paths.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "HACKING.md").read_text()
paths = sorted(set(re.findall(r"(?<![\w/])(?:src|tests|bench|include|docs|python)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]", text)))
missing = [path for path in paths if not (root / path).exists()]
if len(paths) < 20:
    sys.exit(f"only {len(paths)} paths found in HACKING.md: has its way of writing them changed?")
sources = [path for folder in ("src", "python/src", "include") for path in (root / folder).rglob("*") if path.suffix in (".cpp", ".hpp")]
variables = {name for path in sources for name in re.findall(r'(?:getenv|environment)\("(RIDGE_[A-Z_]+)"', path.read_text())}
unsaid = sorted(name for name in variables if f"`{name}`" not in text)
if len(variables) < 10:
    sys.exit(f"only {len(variables)} variables found in the code")
print("".join(f"the code reads {name}, of which HACKING.md says nothing\n" for name in unsaid), end="")
print("\n".join(f"HACKING.md names {path}, which does not exist" for path in missing) or f"{len(paths)} paths")
sys.exit(1 if missing or unsaid else 0)
