#!/usr/bin/env python3
"""Runs every command with invalid values for each of its options.

    options_test.py RIDGE            a part of the calls, another one for each option
    RIDGE_SLOW=1 options_test.py RIDGE    all of them

The options come from `ridge manual --json`, so a new option is tested without a change here; a new command needs a line
in COMMANDS. Each call must end with status 0, or with status 1, one line on stderr that begins with "ridge: " and
nothing left in its folder. A call that has not ended after KILL_SECONDS hangs. Runs with a value that makes them long
(LONG) are ended by SIGTERM instead and must leave nothing. A refusal may use REFUSAL_SECONDS of processor time, or four
times that of the least call: the user waits for it without a word.
"""

import ctypes
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

KILL_SECONDS = 60
LONG_SECONDS = 1
MEMORY = 6 << 30
REFUSAL_SECONDS = 2
# 0, negative, beyond the memory, huge (whole and not), NaN, empty, a folder.
VALUES = ["0", "-1", "6442450944", "999999999999999999", "1e300", "nan", "", "folder"]
RANGES = ["0..100000", "-1e9..1e9", "0..1e300", "5..1", "nan..1", ".."]  # for options whose help names a range
# (command, option): values of every run, also without RIDGE_SLOW.
ALWAYS = {
    ("ridge fft explain", "N"): ["6442450944"],
    ("ridge search", "--dm"): ["0..100000"],
    ("ridge periods", "--acceleration"): ["-1e9..1e9"],
    ("ridge dedisperse", "--dm"): ["100000"],
    ("ridge fold", "--epoch"): ["1e300"],
}
SAME = "the input"  # for outputs
CHECKPOINTS = {"./out.ckp", "./out.ckp.previous"}

HOST = ["--device", "host"]
BANK = ["--channels", "16", "--taps", "4"]
# The least call of each command; {in} and {out} are files. None: a command that only has subcommands.
COMMANDS = {
    "ridge": None,
    "ridge bench": None,
    "ridge stencil": None,
    "ridge wisdom": [],
    "ridge wisdom show": [],
    "ridge wisdom pin": ["nothing"],
    "ridge wisdom unpin": ["nothing"],
    "ridge wisdom ship": ["out.json"],
    "ridge wisdom forget": ["nothing"],
    "ridge kernels": [],
    "ridge kernels show": [],
    "ridge devices": [],
    "ridge trace": ["trace.json"],
    "ridge completion": ["bash"],
    "ridge manual": [],
    "ridge fftw": ["--where"],
    "ridge fft": ["c.npy", "out.npy"],
    "ridge nufft": ["points.npy", "strengths.npy", "out.npy", "--modes", "4x4"],
    "ridge convolve": ["c.npy", "line.npy", "out.npy"],
    "ridge transpose": ["c.npy", "out.npy"],
    "ridge fft explain": ["16", "--quick"],
    "ridge fft papers": ["--list"],
    "ridge sar": ["--pulses", "64", "--samples", "1024", "--frames", "1"] + HOST,
    "ridge size": ["--rate", "10", "--worker", "a=1us"],
    "ridge stencil heat": ["--size", "16x16", "--steps", "2"] + HOST,
    "ridge stencil wave": ["--size", "16x16", "--steps", "2"] + HOST,
    "ridge stencil euler": ["--size", "16x16", "--steps", "2"] + HOST,
    "ridge stencil fluid": ["--size", "8x8x8", "--steps", "2"] + HOST,
    "ridge stencil life": ["--size", "16x16", "--steps", "2"] + HOST,
    "ridge stencil convolve": ["--in", "grid.npy"] + HOST,
    "ridge stencil acoustic": ["--size", "32x32", "--steps", "2"] + HOST,
    "ridge stencil maxwell": ["--size", "32x32", "--steps", "2"] + HOST,
    "ridge stencil elastic": ["--size", "32x32", "--steps", "2"] + HOST,
    "ridge channelize": ["raw", "out.raw", "--quiet"] + BANK,
    "ridge channelize design": ["-"] + BANK,
    "ridge channelize signal": ["out.raw", "--seconds", "0.001"],
    "ridge channelize synthesize": ["raw", "out.raw", "--quiet"] + BANK,
    "ridge capture": ["127.0.0.1:4001", "--replay", "raw", "--quiet"],
    "ridge run": ["day.toml", "--dry"],
    "ridge search": ["a.fil", "--dm", "0..2"] + HOST,
    "ridge fold": ["a.fil", "out.npy", "--period", "0.1"],
    "ridge periods": ["long.fil"] + HOST,
    "ridge dedisperse": ["line.npy", "out.npy", "--dm", "1", "--centre", "1400", "--rate", "1"] + HOST,
    "ridge beamform": ["volts.npy", "out.npy", "--weights", "c.npy"] + HOST,
    "ridge bench search": ["--channels", "16", "--trials", "4", "--times", "100", "--seconds", "0"] + HOST,
    "ridge bench beams": HOST,  # refused: it needs a device
    "ridge bench telescope": HOST,  # refused: it needs a device
    "ridge bench panels": HOST,  # refused: it needs a device
    "ridge bench graph": ["--points", "8", "--block", "512", "--blocks", "2", "--rounds", "1"] + HOST,
    "ridge search convert": ["a.fil", "out.fits"],
    "ridge search signal": ["out.fil", "--channels", "16", "--seconds", "0.01"],
    "ridge flow": ["a.pgm", "b.pgm", "out.flo"] + HOST,
    "ridge flow compare": ["a.flo", "a.flo"],
    "ridge variance": ["a.pgm", "out.npy"] + HOST,
    "ridge image": ["gauss", "2", "a.pgm", "out.pgm"] + HOST,
    "ridge check": ["transpose", "--seconds", "0"] + HOST,
    "ridge bench transpose": ["--rows", "16", "--columns", "16", "--seconds", "0", "--plan-seconds", "0"] + HOST,
    "ridge bench fft": ["--lengths", "16", "--seconds", "0"] + HOST,
    "ridge bench nufft": ["--modes", "8x8", "--points", "20", "--seconds", "0"] + HOST,
    "ridge bench stencil": ["--stencil", "star2d:1", "--size", "16x16", "--steps", "2", "--seconds", "0",
                            "--plan-seconds", "0"] + HOST,
}
# Those whose least call takes seconds, or that need what may not be there: with RIDGE_SLOW only.
SLOW_COMMANDS = {
    "ridge machine": ["--quick"],
    "ridge tour": ["--quick"],
    "ridge kernels build": ["out.pack", "--devices", "h200", "--lengths", "2", "--shapes", ""],
    "ridge check accuracy": ["--lengths", "4"],
    "ridge bench filterbank": ["--shape", "16x4", "--samples", "f32", "--size", "1000", "--seconds", "0"] + HOST,
    "ridge bench correlator": ["--stations", "2", "--channels", "4", "--times", "32", "--seconds", "0"] + HOST,
    "ridge bench image": ["--size", "64x48", "--only", "gauss", "--seconds", "0"] + HOST,
    "ridge bench image-stages": ["--rows", "32", "--columns", "32", "--scan-rows", "32", "--scan-columns", "32"],
    "ridge place": ["loop.cpp", "--verdicts"],
}
# Other least calls of a command whose options apply to some of its methods only: with RIDGE_SLOW only.
ALSO = {
    "ridge sar": [["--pulses", "64", "--samples", "256", "--method", "backprojection", "--frames", "1"] + HOST,
                  ["--pulses", "64", "--samples", "256", "--method", "omega-k", "--frames", "1"] + HOST],
    "ridge stencil heat": [["--size", "16x16", "--steps", "4", "--no-leap", "--checkpoint", "out.ckp"] + HOST],
    "ridge stencil acoustic": [["--size", "32x32", "--steps", "4", "--record", "out.npy"] + HOST],
    "ridge place": [["loop.cpp", "--function", "twice", "--emit", "openmp"],
                    ["loop.cpp", "--function", "twice", "--emit", "opencl", "--threads", "--session"]],
}
# (option, value): a run that is as long as the value says.
LONG = {(option, value)
        for option in ("--seconds", "--frames", "--steps", "--rate")  # --rate: of channelize signal
        for value in ("6442450944", "999999999999999999")}


def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def make_inputs():
    npy("c.npy", "<c8", (4, 16), bytes(512))
    npy("points.npy", "<f4", (3, 2), bytes(24))
    npy("strengths.npy", "<c8", (3,), bytes(24))
    npy("grid.npy", "<f4", (32, 32), struct.pack("<1024f", *[1500.0] * 1024))
    with open("raw", "wb") as file:
        file.write(bytes(range(256)) * 8)
    for name in ("a.pgm", "b.pgm"):
        with open(name, "wb") as file:
            file.write(b"P5\n50 40\n255\n" + bytes(2000))
    with open("a.flo", "wb") as file:
        file.write(b"PIEH" + struct.pack("<ii", 4, 4) + bytes(4 * 4 * 8))
    npy("line.npy", "<c8", (4096,), bytes(8 * 4096))
    npy("volts.npy", "<c8", (2, 8, 16), bytes(8 * 256))
    key = lambda name: struct.pack("<i", len(name)) + name.encode()
    for name, rows in (("a.fil", 400), ("long.fil", 1100)):
        with open(name, "wb") as file:
            file.write(key("HEADER_START") + key("nchans") + struct.pack("<i", 16) + key("nbits") + struct.pack("<i", 8))
            for field, value in (("fch1", 1500.0), ("foff", -1.0), ("tsamp", 1e-3)):
                file.write(key(field) + struct.pack("<d", value))
            file.write(key("HEADER_END") + bytes(k * k % 251 for k in range(16 * rows)))
    with open("loop.cpp", "w") as file:
        file.write("void twice(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }\n")
    with open("day.toml", "w") as file:
        file.write('[[stage]]\nrun = "search"\nin = "a.fil"\n')
    with open("trace.json", "w") as file:
        file.write('{"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "name": "plan", "ts": 1, "dur": 5, "args": {"what": "8 bytes"}}]}')
    os.mkdir("folder")


INPUTS = ["day.toml", "trace.json", "c.npy", "grid.npy", "raw", "a.pgm", "b.pgm", "a.flo", "a.fil", "long.fil", "line.npy", "volts.npy", "loop.cpp"]


def contents():
    found = {}
    for folder, _, files in os.walk("."):
        for file in files:
            path = os.path.join(folder, file)
            with open(path, "rb") as data:
                found[path] = zlib.crc32(data.read())
        found[folder] = 0
    return found


def with_value(least, option, value):
    """The least call with one option changed; a positional argument takes the place of its own."""
    name = next((n for n in option["names"] if n.startswith("--")), option["names"][0])
    if not option["positional"]:
        if name in least:
            at = least.index(name)
            least = least[:at] + least[at + 2:]
        return least + ["%s=%s" % (name, value)], name
    places = [i for i, word in enumerate(least) if not word.startswith("-") and (i == 0 or not least[i - 1].startswith("--"))]
    at = 0 if name in ("IN", "flow", "file", "N", "shell", "workloads") else len(places) - 1
    if not places:
        return least + [value], name
    return least[:places[at]] + [value] + least[places[at] + 1:], name


def limit_memory():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a test that is ended leaves no command running
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def processor_seconds():
    """Of all calls that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(ridge, words, name, value, allowed=None):
    """What is wrong with this call, or nothing. allowed: processor seconds of a refusal."""
    before = contents()
    used = processor_seconds()
    is_long = (name, value) in LONG
    process = subprocess.Popen([ridge] + words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, preexec_fn=limit_memory)
    error = None
    for seconds, ending in ((LONG_SECONDS, signal.SIGTERM),) * is_long + ((KILL_SECONDS, signal.SIGKILL),):
        try:
            _, error = process.communicate(timeout=seconds)
            break
        except subprocess.TimeoutExpired:
            process.send_signal(ending)
    if error is None:
        process.communicate()
        return "has not ended after %d s" % KILL_SECONDS
    code = process.returncode
    text = error.decode(errors="replace")
    stopped = is_long and code in (-signal.SIGTERM, 128 + signal.SIGTERM)
    wrong = ""
    if code == 1 and (text.count("\n") != 1 or not text.startswith("ridge: ")):
        wrong = "not one line that begins with ridge: %r" % text
    elif code not in (0, 1) and not stopped:
        wrong = "ended with %d: %r" % (code, text)
    used = processor_seconds() - used
    if code == 1 and allowed and used > allowed:
        wrong = wrong or "refused after %.1f s, allowed %.1f s: %r" % (used, allowed, text)
    after = contents()
    changed = {path for path in after if after[path] != before.get(path)} | (set(before) - set(after))
    left = changed - (CHECKPOINTS if stopped else set())  # an interrupted run continues from its checkpoint
    if (code != 0 or stopped) and left:
        wrong = wrong or "left behind or changed: %s" % sorted(left)
    lost = [path for path in ["./" + i for i in INPUTS] if path in changed]
    if lost:
        wrong = wrong or "replaced the input %s" % lost
    for path in sorted(changed & set(after), reverse=True):
        if path[2:] in INPUTS or path == ".":
            continue
        os.remove(path) if os.path.isfile(path) else os.rmdir(path)
    return wrong


def test_call(ridge, command, least, slow):
    """Numbers of calls and of failures of one least call with every option changed."""
    path = command["command"]
    calls = failures = 0
    words = path.split()[1:]
    used = processor_seconds()
    wrong = check(ridge, words + least, "", "")
    allowed = max(REFUSAL_SECONDS, 4 * (processor_seconds() - used))
    if wrong:
        print("FAILED: the least call, ridge %s: %s" % (" ".join(words + least), wrong))
        failures += 1
    for option in command["options"]:
        if not option["takes_value"] or option["names"][0] in ("-h", "--help"):
            continue
        values = list(VALUES) + (RANGES if re.search(r"\d\.\.\d", option["help"] + option["default"]) else [])
        read = next((word for word in least if word in INPUTS), None)
        if option["file"].endswith("write") and read:
            values += [SAME]
        if not slow:
            number = zlib.crc32((path + option["names"][0]).encode())
            always = ALWAYS.get((path, option["names"][0]), []) + ALWAYS.get((path, option["names"][-1]), [])
            values = [values[number % len(values)]] + ([SAME] if SAME in values else []) + always
        for value in dict.fromkeys(values):
            given = read if value == SAME else value
            call, name = with_value(least, option, given)
            wrong = check(ridge, words + call, name, value, allowed)
            calls += 1
            if wrong:
                failures += 1
                print("FAILED: ridge %s: %s" % (" ".join(repr(w) if not w else w for w in words + call), wrong), flush=True)
    return calls, failures


def main():
    ridge = os.path.abspath(sys.argv[1])
    slow = bool(os.environ.get("RIDGE_SLOW"))
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    table = json.loads(subprocess.run([ridge, "manual", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    calls = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs()
        for command in table:
            path = command["command"]
            if path not in COMMANDS and path not in SLOW_COMMANDS:
                print("FAILED: %s has no least call: add one to %s" % (path, __file__))
                failures += 1
                continue
            least = COMMANDS.get(path, SLOW_COMMANDS.get(path))
            if least is None or (path in SLOW_COMMANDS and not slow) or not path.startswith(only):
                continue
            for call in [least] + ALSO.get(path, []) * slow:
                counts = test_call(ridge, command, call, slow)
                calls += counts[0]
                failures += counts[1]
        os.chdir("/")
    print("%d calls, %d failures" % (calls, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
