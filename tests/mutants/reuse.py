#!/usr/bin/env python3
"""Compiler launcher that copies an object from another build of the same tree if no file it was compiled from differs.

reuse.py TABLE COMPILER ARGUMENT...   copies the object if TABLE lists it, compiles with at most -O1 otherwise
reuse.py --self-test                  checks this script

TABLE is written by write_table (mutants.py): the objects whose files are older than they are and hold no mutant.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def recorded(text):
    """Objects and the files they were compiled from, out of the output of `ninja -t deps`."""
    for block in text.split("\n\n"):
        head, *files = block.splitlines() or [""]
        if found := re.fullmatch(r"(.+): #deps \d+, deps mtime \d+ \(VALID\)", head):
            yield found[1], [file.strip() for file in files]


def write_table(path, base, root, build, tree, mutated):
    """Lists the objects of `base`, a build of `root`, that hold neither a mutated file nor a path of `root`; files are those of `tree`."""
    def ninja(tool):
        return subprocess.run(["ninja", "-C", str(base), "-t", tool], check=True, capture_output=True, text=True).stdout
    located = {entry["output"] for entry in json.loads(ninja("compdb")) if re.search(rf"-D\S*{re.escape(str(root))}/", entry["command"])}
    kernels = [str(base / "embedded_kernels.cpp")] if any(file.endswith(".cl") for file in mutated) else []
    mutated = {*(str(root / file) for file in mutated), *kernels}
    objects = {}
    for name, files in recorded(ninja("deps")):
        made = base / name
        paths = [os.path.normpath(base / file) for file in files]
        own = [p for p in paths if p.startswith(f"{root}/") or p.startswith(f"{base}/")]
        if name.endswith(".gch") or name in located or not made.exists() or mutated.intersection(own):
            continue
        try:
            if max((os.stat(p).st_mtime for p in own), default=0) > made.stat().st_mtime:
                continue
        except OSError:
            continue
        objects[name] = [p.replace(f"{base}/", f"{build}/", 1) if p.startswith(f"{base}/") else p.replace(f"{root}/", f"{tree}/", 1)
                         for p in own if not p.endswith(".gch")]
    path.write_text(json.dumps({"base": str(base), "objects": objects}))
    return objects


def compile_or_copy(table, command):
    """The compiler's exit status; the working directory is the build folder."""
    known = json.loads(pathlib.Path(table).read_text())
    name = command[command.index("-o") + 1] if "-o" in command else ""
    files = known["objects"].get(name)
    if files is None:
        return subprocess.run([c if not re.fullmatch("-O[23s]", c) else "-O1" for c in command]).returncode
    shutil.copyfile(pathlib.Path(known["base"]) / name, name)
    if "-MF" in command:
        pathlib.Path(command[command.index("-MF") + 1]).write_text(f"{name}: " + " ".join(f.replace(" ", "\\ ") for f in files) + "\n")
    return 0


def self_test():
    assert list(recorded("a.o: #deps 2, deps mtime 5 (VALID)\n    x.cpp\n    ../y.hpp\n\nb.o: #deps 1, deps mtime 5 (STALE)\n    z\n\n")) == [
        ("a.o", ["x.cpp", "../y.hpp"])]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("base")
        pathlib.Path("base/a.o").write_text("object")
        pathlib.Path("table").write_text(json.dumps({"base": f"{folder}/base", "objects": {"a.o": ["/t/x.cpp"]}}))
        pathlib.Path("compiler").write_text('#!/bin/sh\necho "$@" > compiled\n')
        os.chmod("compiler", 0o755)
        assert compile_or_copy("table", ["./compiler", "-O3", "-MF", "a.d", "-o", "a.o", "-c", "x.cpp"]) == 0
        assert pathlib.Path("a.o").read_text() == "object" and pathlib.Path("a.d").read_text() == "a.o: /t/x.cpp\n"
        assert not pathlib.Path("compiled").exists()
        assert compile_or_copy("table", ["./compiler", "-O3", "-o", "b.o", "-c", "y.cpp"]) == 0
        assert pathlib.Path("compiled").read_text() == "-O1 -o b.o -c y.cpp\n"


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else compile_or_copy(sys.argv[1], sys.argv[2:]))
