"""The command loads no library that it can open later: each costs time at every start.

  start_test.py COMMAND      skipped (77) without objdump
"""
import re
import shutil
import subprocess
import sys

command = sys.argv[1]
if shutil.which("objdump") is None:
    print("skipped: no objdump")
    sys.exit(77)
# The language's libraries and sanitizers, our own (shared builds), {fmt}, Highway and Ne10, whose functions are variables.
ALLOWED = r"(ld-linux.*|linux-vdso|lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+|fmt|hwy|NE10|ridge|asan|ubsan|tsan)(-.*)?)\.so.*"
needed = re.findall(r"NEEDED +(\S+)", subprocess.check_output(["objdump", "-p", command], text=True))
assert needed, "objdump names no library"
others = [name for name in needed if not re.fullmatch(ALLOWED, name)]
assert not others, f"the command needs {', '.join(others)}: open them by base::Library (src/base/library.hpp) or a plugin"
assert re.fullmatch(r"\d+\.\d+\.\d+\n", subprocess.check_output([command, "--version"], text=True))
print(f"needs {', '.join(needed)}")
