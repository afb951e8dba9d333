#!/usr/bin/env python3
"""Random programs from Csmith: the placed program must print the original's checksum, with eight threads and with
iterations in another order. Skips without csmith or its headers (in CSMITH_HEADERS or /usr/include/csmith).

csmith_test.py PLUGIN FOLDER [FIRST_SEED [PROGRAMS]]"""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys

HEADERS = os.environ.get("CSMITH_HEADERS", "/usr/include/csmith")
FORMS = [
    ["--max-funcs", "3", "--max-array-len-per-dim", "24"],
    ["--max-funcs", "5", "--max-pointer-depth", "1", "--max-array-dim", "4"],
    ["--max-funcs", "2", "--no-pointers", "--max-block-depth", "4"],
    ["--max-funcs", "4", "--no-structs", "--max-array-len-per-dim", "16"],
]


def analyzed(plugin, file, function):
    """Report of the plugin, run in a child process; None if it crashes or takes longer than 300 s."""
    answer = file + ".json"
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        work = ctypes.CDLL(plugin).ridge_place_work
        work.restype = ctypes.c_char_p
        memories = {"cached": 1.0, "local": 1.0, "local_bytes": 49152, "constant": True, "tiles": "auto"}
        request = {"file": file, "function": function, "flags": ["-std=c++17", "-I" + HEADERS], "emit": "openmp",
                   "without": [], "any_size": True, "memories": memories}
        with open(answer, "wb") as out:
            out.write(work(json.dumps(request).encode()))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        return None
    with open(answer, encoding="utf-8") as text:
        return json.load(text)


def printed(command, environment=None, seconds=20):
    """Output of a program; None if it fails or exceeds the time limit."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False,
                              env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


def main():
    plugin, folder = sys.argv[1], sys.argv[2]
    slow = "RIDGE_SLOW" in os.environ
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    programs = int(sys.argv[4]) if len(sys.argv) > 4 else 200 if slow else 3
    if shutil.which("csmith") is None or not os.path.exists(HEADERS + "/csmith.h"):
        print("skipped: needs csmith and libcsmith-dev")
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    compiler = os.environ.get("RIDGE_WIDE_CXX", "c++ -fopenmp").split()
    threads = {"PLACED_ALWAYS": "1", "OMP_NUM_THREADS": "8", "OMP_WAIT_POLICY": "passive", "OMP_SCHEDULE": "dynamic,1"}
    placed = compared = loops = wrong = 0
    for seed in range(first, first + programs):
        file = f"{folder}/c{seed}.cpp"
        made = subprocess.run(["csmith", "--lang-cpp", "--cpp11", "--no-volatiles", "--no-jumps", "--no-bitfields",
                               "--no-packed-struct", "--no-unions", "--seed", str(seed), *FORMS[seed % len(FORMS)]],
                              capture_output=True, text=True, check=True).stdout
        with open(file, "w", encoding="utf-8") as out:
            out.write(made)
        report = analyzed(plugin, file, "")
        if report is None or report["errors"]:
            print(f"seed {seed}: the plugin fails: {report and report['errors']}")
            wrong += 1
            continue
        count = {}
        for loop in report["loops"]:
            count[loop["function"]] = count.get(loop["function"], 0) + loop["parallel"]
        functions = sorted((f for f in count if count[f] > 0 and re.fullmatch(r"func_\d+", f)), key=count.get)
        report = analyzed(plugin, file, functions[-1]) if functions else None
        if functions and report is None:
            print(f"seed {seed}: the plugin fails on {functions[-1]}")
            wrong += 1
            continue
        if report is not None and report["placed"]:
            placed += 1
            loops += sum(l["placed"] for l in report["loops"])
            results = {}
            for name, text in (("original", made), ("placed", report["placed"]), ("permuted", report["permuted"])):
                with open(f"{folder}/{name}.cpp", "w", encoding="utf-8") as out:
                    out.write(text)
                built = subprocess.run([*compiler, "-O0", "-fwrapv", "-fno-strict-aliasing", "-std=c++17", "-w", "-I" + HEADERS,
                                        "-o", f"{folder}/{name}", f"{folder}/{name}.cpp"], capture_output=True, text=True, check=False)
                if built.returncode != 0:
                    results[name] = "does not compile: " + built.stderr[:500]
                    continue
                results[name] = printed([f"{folder}/{name}"], threads)
                if name == "original" and results[name] is None:
                    break
            if results.get("original") is not None:
                compared += 1
                for name in ("placed", "permuted"):
                    if results[name] != results["original"]:
                        print(f"seed {seed}, {functions[-1]}, {name}: {results[name]!r} instead of {results['original']!r}")
                        wrong += 1
        for name in (file, file + ".json"):
            if os.path.exists(name):
                os.remove(name)
        if seed % 50 == 0 or seed == first + programs - 1:
            print(f"{seed - first + 1} programs, {placed} with placed loops ({loops}), {compared} compared, {wrong} wrong", flush=True)
    sys.exit(1 if wrong > 0 else 0)


main()
