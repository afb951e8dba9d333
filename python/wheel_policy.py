"""Checks a wheel against the manylinux policy and prints the platform tag that it deserves.

  wheel_policy.py WHEEL [--most-megabytes 6] [--tag]      exit status 1 and one line per violation; --tag prints the tag alone

A module may need only the libraries of the policy, which every distribution has, and those inside the wheel. The tag follows from the
newest symbol version of glibc and of libstdc++ that is needed. Needs objdump and nm.
"""
import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

# PEP 600: libraries that may be expected on every system. libpython is not one of them.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
# Newest GLIBCXX of the libstdc++ that distributions with a version of glibc have (GCC 8, 10, 11, 12, 13).
GLIBCXX = {28: 25, 31: 28, 34: 29, 35: 30, 38: 32}


def facts(path):
    """Needed libraries, search path and newest symbol versions of a shared object."""
    text = subprocess.check_output(["objdump", "-p", path], text=True)
    versions = {name: max((int(v) for v in re.findall(rf"\b{name}_{major}(\d+)", text)), default=0)
                for name, major in (("GLIBC", r"2\."), ("GLIBCXX", r"3\.4\."))}
    return {"needed": re.findall(r"NEEDED +(\S+)", text), "origin": "$ORIGIN" in "".join(re.findall(r"R(?:UN)?PATH +(\S+)", text)),
            **versions}


def exported(path):
    """Names that a shared object defines for others."""
    lines = subprocess.check_output(["nm", "-D", "--defined-only", path], text=True).splitlines()
    return {line.split()[2].partition("@")[0] for line in lines if len(line.split()) == 3}


def tag_of(paths):
    """The oldest manylinux tag that fits the shared objects."""
    newest = [facts(path) for path in paths]
    glibc, glibcxx = (max(f[name] for f in newest) for name in ("GLIBC", "GLIBCXX"))
    fitting = [minor for minor, limit in GLIBCXX.items() if glibc <= minor and glibcxx <= limit]
    return f"manylinux_2_{fitting[0] if fitting else glibc}_{platform.machine()}"


def violations(wheel, most_megabytes):
    size = os.path.getsize(wheel) / 1e6
    found = [] if size <= most_megabytes else [f"{size:.1f} MB: at most {most_megabytes} MB are wanted"]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        objects = [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names if ".so" in name]
        inside = {os.path.basename(path) for path in objects}
        for path in objects:
            name, known = os.path.basename(path), facts(path)
            outside = [library for library in known["needed"] if library not in SYSTEM
                       and not (library in inside and known["origin"])]
            if outside:
                found.append(f"{name} needs {', '.join(outside)}, which the policy does not name: build with RIDGE_WHEEL=ON")
            if name.startswith("_ridge") and exported(path) != {"PyInit__ridge"}:
                found.append(f"{name} exports {len(exported(path))} symbols: PyInit__ridge alone is wanted")
        if not objects:
            found.append("there is no module in it")
        return found, tag_of(objects) if objects else "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel")
    parser.add_argument("--most-megabytes", type=float, default=6)
    parser.add_argument("--tag", action="store_true", help="print the platform tag alone")
    given = parser.parse_args()
    found, tag = violations(given.wheel, given.most_megabytes)
    if given.tag:
        print(tag)
        return 0
    for line in found:
        print(f"{os.path.basename(given.wheel)}: {line}")
    if not found:
        print(f"{os.path.basename(given.wheel)}: {os.path.getsize(given.wheel) / 1e6:.1f} MB, {tag}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
