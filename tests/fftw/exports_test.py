"""The drop-in library exports every call and string of fftw3.h in both precisions and every Fortran entry of FFTW's libraries, and
nothing else. Usage: exports_test.py LIBRARY. Skipped (77) without fftw3.h or nm."""
import ctypes.util
import pathlib
import re
import shutil
import subprocess
import sys

library = sys.argv[1]
header = next((h for h in (pathlib.Path("/usr/include/fftw3.h"), pathlib.Path("/usr/local/include/fftw3.h")) if h.exists()), None)
if header is None or shutil.which("nm") is None:
    print("skipped: no fftw3.h or no nm")
    sys.exit(77)


def exported(path):
    lines = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] not in "Vvw"}


def loaded(name):
    """The file that the loader takes for a name, or none."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        return next((line.split()[-1] for line in maps if pathlib.Path(line.split()[-1]).name.startswith(name)), None)


text = header.read_text(encoding="utf-8", errors="replace")
body = text[text.index("#define FFTW_DEFINE_API"):text.index("/* end of FFTW_DEFINE_API macro */")]
types = {"plan", "iodim", "iodim64", "r2r_kind", "write_char_func", "read_char_func", "complex", "plan_s", "iodim_do_not_use_me",
         "iodim64_do_not_use_me", "r2r_kind_do_not_use_me", "write_char_func_do_not_use_me", "read_char_func_do_not_use_me"}
calls = set(re.findall(r"\bX\((\w+)\)\s*\(", body)) - types
strings = set(re.findall(r"\bX\((\w+)\)\s*\[\]", body))
print(f"{header}: {len(calls)} calls, {len(strings)} strings")
assert len(calls) >= 72 and len(strings) == 3, (sorted(calls), sorted(strings))

ours = exported(library)
wanted = {prefix + name for prefix in ("fftw_", "fftwf_") for name in calls | strings}
wanted |= {"fftw_copy_plan", "fftwf_copy_plan"}  # headers before FFTW 3.3.11 lack it
missing = wanted - ours
assert not missing, f"not exported: {sorted(missing)}"

# Fortran compilers append one underscore or two to a name.
fortran = {name for name in ours if re.match(r"[sd]fftw_\w+_$", name)}
for name in ("libfftw3.so.3", "libfftw3f.so.3", "libfftw3_threads.so.3", "libfftw3f_threads.so.3"):
    real = loaded(name)
    if real is None:
        print(f"{name}: not here, left out")
        continue
    theirs = {n for n in exported(real) if re.match(r"[sd]fftw_\w+_$", n)}
    assert not theirs - ours, f"{name}: not exported: {sorted(theirs - ours)}"
    print(f"{name}: its {len(theirs)} Fortran entries are there")
assert {"dfftw_copy_plan_", "dfftw_copy_plan__"} <= fortran  # since FFTW 3.3.11
other = ours - wanted - fortran
assert not other, f"exported besides: {sorted(other)}"
assert {re.sub(r"^s", "d", n) for n in fortran if n[0] == "s"} == {n for n in fortran if n[0] == "d"}, "the precisions differ"
print(f"{len(wanted)} calls and strings, {len(fortran)} Fortran entries, nothing else")
