"""Compiles and runs examples/c_interface in every language that is installed, and compares the struct sizes of ridge.f90 with ridge.h.

  languages_test.py SOURCE LIBRARY
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, library = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
examples, folder = source / "examples/c_interface", str(library.parent)


def run(command, **how):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **how)
    if done.returncode:
        sys.exit(f"{command} failed ({done.returncode}):\n{done.stdout}")
    return done.stdout


def check(language, output):
    lines = output.splitlines()
    if len(lines) != 2 or not re.fullmatch(r"peak at 7 of height 30\.0+", lines[0]) or "length 0" not in lines[1]:
        sys.exit(f"{language}: expected the peak at 7 and an error about length 0, got:\n{output}")
    print(f"{language}: right")


environment = {**os.environ, "LD_LIBRARY_PATH": folder, "RIDGE_C": str(library), "RIDGE_BACKENDS": "host"}
with tempfile.TemporaryDirectory() as work:
    fortran_text = (source / "include/ridge.f90").read_text(encoding="ascii")
    sizes = dict(re.findall(r":: (ridge_\w+)\n    integer\(c_size_t\) :: struct_size = (\d+)", fortran_text))
    checks = "".join(f'_Static_assert(sizeof({name}) == {size}, "{name}");\n' for name, size in sizes.items())
    assert len(sizes) == 3, sizes
    if shutil.which("cc"):
        (pathlib.Path(work) / "sizes.c").write_text(f'#include "ridge.h"\n{checks}', encoding="ascii")
        run(["cc", "-std=c11", "-I", source / "include", "-fsyntax-only", f"{work}/sizes.c"])
    if shutil.which("gfortran"):
        run(["gfortran", "-std=f2018", "-Wall", "-Werror", "-J", work, source / "include/ridge.f90", examples / "spectrum.f90",
             "-o", f"{work}/fortran", "-L", folder, "-lridge_c"])
        check("Fortran", run([f"{work}/fortran"], env=environment))
    # rustup's proxy looks for a toolchain below HOME, which may lack one.
    if shutil.which("rustc") and subprocess.run(["rustc", "--version"], capture_output=True).returncode == 0:
        run(["rustc", "--edition", "2021", "-D", "warnings", "-L", f"native={folder}", examples / "spectrum.rs", "-o", f"{work}/rust"])
        check("Rust", run([f"{work}/rust"], env=environment))
    if shutil.which("julia"):
        check("Julia", run(["julia", "--startup-file=no", examples / "spectrum.jl"], env=environment))
