#!/usr/bin/env python3
"""Instructions and time of the parts of the thesis's transforms V1 and V2, 1024 floats, per instruction set.

    bench/classic_parts.py [--build DIR] [--keep DIR]     DIR of the library: build; --keep leaves the programs there
    bench/classic_parts.py --times DIR                    times alone, of programs that --keep left

Instructions are counted by single steps and classified by their names; times are time stamp counter cycles.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

SETS = {"AVX2": "haswell -maes", "AVX-512": "cascadelake"}


def program(folder, name, version):
    return f"{folder}/parts-{SETS[name].split()[0]}-v{version}"


def compile_all(folder, build):
    for name, march in SETS.items():
        for version in (1, 2):
            subprocess.run(["g++", "-O3", "-std=gnu++20", *f"-march={march}".split(), f"-DVERSION={version}", "-DHWY_COMPILE_ONLY_STATIC",
                            "-ffp-contract=off", "-fno-math-errno", "-no-pie", "-Iinclude", "-Isrc", "-Wno-ignored-attributes",
                            "bench/classic_parts.cpp", f"{build}/libridge.a", "-lfmt", "-lhwy", "-ldl", "-lpthread",
                            "-o", program(folder, name, version)], check=True)


def kind(text):
    """Class of an instruction: shuffle, arithmetic, store, load, other; a shuffle or product from memory is not a load."""
    word = text.split()[0]
    operands = text[len(word):]
    if re.match(r"v(perm|unpck|shuf|blend|insert|extract|broadcast|movs[hl]dup|movddup|pblend|expand|compress)", word):
        if word.startswith(("vbroadcast", "vinsert")) and "[" in operands and "],ymm" not in operands:
            return "load"
        return "shuffle"
    if re.match(r"vf?n?m?(add|sub|mul|madd|msub|fmadd|fmsub|fnmadd)|vf(n?m)", word):
        return "arithmetic"
    if word.startswith("vmov"):
        target = operands.split(",")[0]
        return "store" if "[" in target else "load" if "[" in operands else "other"
    return "other"


def counted(path, part):
    lines = subprocess.run([path, str(part)], check=True, capture_output=True, text=True).stdout.split("\n")
    times = {int(line.split()[0], 16): int(line.split()[1]) for line in lines if line}
    text = subprocess.run(["objdump", "-d", "-M", "intel", "--no-show-raw-insn", f"--start-address={min(times)}",
                           f"--stop-address={max(times) + 16}", path], check=True, capture_output=True, text=True).stdout
    found = collections.Counter()
    for line in text.split("\n"):
        match = re.match(r"\s*([0-9a-f]+):\t(.*)", line)
        if match and int(match[1], 16) in times:
            found[kind(match[2])] += times[int(match[1], 16)]
    outside = sum(times.values()) - sum(found.values())
    found["other"] += outside
    return found


def table(folder, counts):
    for name in SETS:
        for version in (1, 2):
            path = program(folder, name, version)
            rows = subprocess.run([path], check=True, capture_output=True, text=True).stdout.strip().split("\n")
            for row in rows:
                part, text, cycles = row.split("|")
                found = counted(path, part) if counts else {}
                cells = [str(found.get(word, 0)) for word in ("load", "store", "shuffle", "arithmetic", "other")] if counts else []
                print(f"| {name} | V{version} | {text} | {' | '.join(cells + [cycles])} |", flush=True)


def main():
    words = sys.argv[1:]
    options = dict(zip(words[::2], words[1::2]))
    if "--times" in options:
        return table(options["--times"], False)
    print("| set | version | part | loads | stores | shuffles | arithmetic | other | cycles |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.get("--keep", temporary)
        os.makedirs(folder, exist_ok=True)
        compile_all(folder, options.get("--build", "build"))
        table(folder, True)


if __name__ == "__main__":
    main()
