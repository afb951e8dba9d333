#!/usr/bin/env python3
"""Every function that src/device/opencl/builtins.cl declares has exactly the overloads of Clang's header:
builtins_test.py ROOT. Skips (77) where there is no Clang or no opencl-c.h."""
import glob
import pathlib
import re
import shutil
import subprocess
import sys


def declarations(compiler, header):
    """Name to the set of its result and argument types, in OpenCL C 1.2 with doubles."""
    command = [compiler, "-cc1", "-x", "cl", "-cl-std=CL1.2", "-triple", "aarch64-linux-gnu", "-Dcl_khr_fp64=1", "-E", "-P", str(header)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\(\(.*?\)\)", " ", text)
    found = {}
    for result, name, arguments in re.findall(r"(\w+)\s+(\w+)\(([^()]*)\);", text):
        types = []
        for argument in arguments.split(","):
            words = re.sub(r"\*", " * ", argument).split()
            if len(words) > 1 and words[-1] in ("p", "val", "cmp", "flags"):  # named, not typed
                words.pop()
            types.append(" ".join(words))
        found.setdefault(name, set()).add((result, tuple(types)))
    return found


def main(root):
    compiler = next(filter(None, map(shutil.which, ("clang-19", "clang-15", "clang"))), None)
    headers = glob.glob("/usr/share/pocl/include/opencl-c.h") + sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/include/opencl-c.h"))
    if compiler is None or not headers:
        print("skipped: no Clang, or no opencl-c.h")
        return 77
    wanted = declarations(compiler, headers[0])
    ours = declarations(compiler, root / "src/device/opencl/builtins.cl")
    if len(wanted) < 500 or len(ours) < 40:
        sys.exit(f"only {len(wanted)} and {len(ours)} functions were found")
    wrong = [name for name in sorted(ours) if ours[name] != wanted.get(name)]
    for name in wrong:
        print(f"{name}: missing {sorted(wanted.get(name, set()) - ours[name])}, too many {sorted(ours[name] - wanted.get(name, set()))}")
    print(f"{len(ours)} functions, {sum(map(len, ours.values()))} overloads")
    return 1 if wrong else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
