#!/usr/bin/env python3
"""Every path of the tree that HACKING.md names exists: hacking_paths.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "HACKING.md").read_text()
paths = sorted(set(re.findall(r"(?<![\w/])(?:src|tests|bench|include|docs|python)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]", text)))
missing = [path for path in paths if not (root / path).exists()]
if len(paths) < 20:
    sys.exit(f"only {len(paths)} paths found in HACKING.md: has its way of writing them changed?")
print("\n".join(f"HACKING.md names {path}, which does not exist" for path in missing) or f"{len(paths)} paths")
sys.exit(1 if missing else 0)
