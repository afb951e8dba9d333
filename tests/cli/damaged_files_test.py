#!/usr/bin/env python3
"""Runs the commands that read files on files damaged at random: cut, with changed bits, numbers, blocks and order.

    damaged_files_test.py RIDGE [SEED [FORMAT]]    some calls for each format
    RIDGE_SLOW=1 damaged_files_test.py RIDGE       several hundred

Each call must end with status 0, or with status 1, one line on stderr that begins with "ridge: " and contains no control
character, no file left and no input changed. A call that has not ended after KILL_SECONDS hangs. A failure prints the call
and the seed that repeats it.
"""

import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile

KILL_SECONDS = 60
MEMORY = 4 << 30
HOST = ["--device", "host"]
BANK = ["--channels", "16", "--taps", "4", "--quiet"] + HOST
WAVES = ["stencil", "acoustic", "--velocity", "velocity.npy", "--steps", "20"] + HOST
VISIBILITIES = ["--stations", "3", "--samples", "i8", "--correlate", "--times", "8", "--rate", "1000", "--frequency", "150",
                "--site", "6.87,52.91", "--start", "2020-01-01T00:00:00", "--phase-centre", "45,60"] + BANK
POLYCO = (b"0531+21    25-Feb-23   00:00:00.00   60000.00000000000            56.77  0.0 -6.0\n"
          b"  12345678901.250000     29.600000000000    @    60    3  1400.000\n"
          b"  1.00000000000000000D-01  2.00000000000000000D-03 -3.00000000000000000D-06\n")
NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")
VALUES = [b"0", b"-1", b"-0", b"3", b"7", b"65536", b"1000000000", b"2147483648", b"4294967296", b"9223372036854775807",
          b"18446744073709551615", b"99999999999999999999", b"nan", b"inf", b"1e308", b"1e-320", b"", b" ", b"abc", b"0x10",
          b"1,5", b"\0", b"\x1b[2J", b"\xff\xfe"]
INTEGERS = (0, 1, 2, 3, 65535, 65536, 100000000, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f7fffff)  # the last as a float: 3.4e38
REALS = (0.0, -0.0, -1.0, float("nan"), float("inf"), 1e308, 1e-308, 1e18)

# The damaged file, and the calls that read it.
CALLS = {
    "c.npy": [["fft", "c.npy", "out.npy"], ["convolve", "c.npy", "line.npy", "out.npy"], ["transpose", "c.npy", "out.npy"]],
    "velocity.npy": [WAVES + ["--out", "out.npy"],
                     ["stencil", "heat", "--in", "velocity.npy", "--steps", "3", "--out", "out.png"] + HOST],
    "points.npy": [["nufft", "points.npy", "strengths.npy", "out.npy", "--modes", "4x4"],
                   ["nufft", "points.npy", "modes.npy", "out.npy", "--type", "2"],
                   ["nufft", "points.npy", "strengths.npy", "out.npy", "--type", "3", "--frequencies", "points.npy"]],
    "receivers.npy": [WAVES + ["--receivers", "receivers.npy", "--record", "out.npy"],
                      WAVES + ["--sources", "receivers.npy", "--shots", "--record", "out.sgy"]],
    "receivers.csv": [WAVES + ["--receivers", "receivers.csv", "--record", "out.npy"]],
    "wavelet.npy": [WAVES + ["--wavelet", "wavelet.npy", "--record", "out.npy"]],
    "a.sgy": [WAVES + ["--receivers", "a.sgy", "--units", "lengths", "--record", "out.sgy"],
              WAVES + ["--observed", "a.sgy", "--gradient", "out.npy"]],
    "a.png": [["image", "gauss", "1", "a.png", "out.png"] + HOST],
    "a.pgm": [["image", "resize", "0.5", "a.pgm", "out.pgm"] + HOST, ["variance", "a.pgm", "out.npy"] + HOST,
              ["flow", "a.pgm", "a.pgm", "out.flo"] + HOST],
    "a.flo": [["flow", "compare", "a.flo", "a.flo"]],
    "a.fil": [["search", "a.fil", "--dm", "0..2", "--out", "out.json"] + HOST, ["fold", "a.fil", "out.npy", "--period", "0.1"],
              ["search", "convert", "a.fil", "out.fits"]],
    "a.fits": [["search", "a.fits", "--dm", "0..2", "--out", "out.json"] + HOST, ["search", "convert", "a.fits", "out.fil"]],
    "a.dada": [["channelize", "a.dada", "out.raw"] + BANK, ["channelize", "a.dada", "out.fil", "--detect", "total"] + BANK],
    "a.guppi": [["channelize", "a.guppi", "out.raw"] + BANK, ["channelize", "a.guppi", "out.dada"] + BANK],
    "a.vdif": [["channelize", "a.vdif", "out.raw"] + BANK],
    "a.wav": [["channelize", "a.wav", "out.raw"] + BANK, ["fold", "a.wav", "out.npy", "--period", "0.1"]],
    "a.uvfits": [["search", "a.uvfits", "--dm", "0..2", "--out", "out.json"] + HOST, ["channelize", "a.uvfits", "out.raw"] + BANK,
                 ["search", "convert", "a.uvfits", "out.fil"]],
    "a.polyco": [["fold", "a.fil", "out.npy", "--polyco", "a.polyco"]],
    "positions.npy": [["channelize", "raw", "out.uvfits", "--positions", "positions.npy"] + VISIBILITIES],
    "delays.txt": [["channelize", "raw", "out.raw", "--delays", "delays.txt"] + BANK],
    "lost.txt": [["channelize", "raw", "out.raw", "--lost", "lost.txt"] + BANK],
    "volts.npy": [["beamform", "volts.npy", "out.npy", "--weights", "weights.npy"]],
    "weights.npy": [["beamform", "volts.npy", "out.npy", "--weights", "weights.npy"]],
    "day.toml": [["run", "day.toml", "--dry"]],
    "trace.json": [["trace", "trace.json"]],
}


def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def wav(data):
    """Two 16-bit channels."""
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 2, 8000, 32000, 4, 16) + b"data" + \
        struct.pack("<I", len(data)) + data


def floats(draw, count):
    return struct.pack("<%df" % count, *[draw.uniform(1, 3) for _ in range(count)])


def make_inputs(ridge):
    draw = random.Random(1)
    for name, descr, shape, count in (("c", "<c8", (4, 16), 128), ("line", "<c8", (4096,), 8192), ("points", "<f4", (30, 2), 60),
                                      ("strengths", "<c8", (30,), 60), ("modes", "<c8", (4, 4), 32), ("receivers", "<f4", (3, 2), 6),
                                      ("wavelet", "<f4", (20,), 20), ("volts", "<c8", (2, 8, 16), 512), ("weights", "<c8", (3, 16), 96)):
        npy(name + ".npy", descr, shape, floats(draw, count))
    npy("positions.npy", "<f8", (3, 3), struct.pack("<9d", *range(9)))
    npy("velocity.npy", "<f4", (24, 24), struct.pack("<576f", *[1500.0] * 576))
    texts = {"raw": bytes(draw.randrange(256) for _ in range(40000)), "a.pgm": b"P5\n20 16\n255\n" + bytes(range(256)) + bytes(64),
             "receivers.csv": b"# depth, across\n3, 4\n5.5,6\n7,8\n", "delays.txt": b"0 1 2\n1000 3 4\n", "lost.txt": b"0,100\n1000,50\n",
             "a.polyco": POLYCO, "a.wav": wav(bytes(draw.randrange(256) for _ in range(8000))),
             "day.toml": b'[[stage]]\nname = "one"\nrun = "fold"\nin = "a.fil"\nout = "y.npy"\nperiod = 0.1\n',
             "trace.json": b'{"traceEvents": [{"ph": "X", "tid": 1, "name": "plan", "ts": 1, "dur": 5, "args": {"what": "8 bytes"}}]}'}
    for name, data in texts.items():
        with open(name, "wb") as file:
            file.write(data)
    for words in (["image", "gauss", "1", "a.pgm", "a.png"] + HOST, ["flow", "a.pgm", "a.pgm", "a.flo"] + HOST,
                  ["search", "signal", "a.fil", "--channels", "16", "--seconds", "0.3", "--interval", "0.001"],
                  ["search", "convert", "a.fil", "a.fits"], WAVES + ["--record", "a.sgy"],
                  ["channelize", "raw", "a.uvfits", "--positions", "positions.npy"] + VISIBILITIES,
                  *[["channelize", "signal", "a." + form, "--format", form, "--seconds", "0.05"] for form in ("dada", "vdif", "guppi")]):
        subprocess.run([ridge] + words, check=True, stdout=subprocess.DEVNULL)


def contents():
    found = {}
    for name in os.listdir("."):
        with open(name, "rb") as file:
            found[name] = file.read()
    return found


def damaged(draw, data):
    """The damaged bytes and what was done."""
    head = min(len(data), 4096)
    way = draw.choice(("cut", "bits", "integer", "real", "number", "number", "number", "block", "order"))
    numbers = list(NUMBER.finditer(data[:head]))
    if way == "number" and numbers:
        found, value = draw.choice(numbers), draw.choice(VALUES)
        value = value.ljust(len(found.group())) if draw.random() < 0.6 else value  # mostly without moving what follows
        return data[:found.start()] + value + data[found.end():], "%r for %r at %d" % (value, found.group(), found.start())
    changed = bytearray(data)
    at = draw.randrange(min(head, 800))
    at -= draw.choice((0, at % 4))
    if way == "bits":
        for _ in range(draw.choice((1, 1, 3))):
            changed[draw.randrange(min(head, 600))] ^= 1 << draw.randrange(8)
    elif way == "integer":
        changed[at:at + 4] = struct.pack(draw.choice("<>") + "I", draw.choice(INTEGERS))
    elif way == "real":
        changed[at:at + 8] = struct.pack(draw.choice("<>") + "d", draw.choice(REALS))
    elif way == "block":
        end = at + draw.choice((1, 8, 80, 512))
        return draw.choice((data[:at] + data[end:], data[:end] + data[at:], data[:at] + bytes(end - at) + data[end:])), "block at %d" % at
    elif way == "order":
        half = len(data) // 2
        return draw.choice((data + data, data + data[:half], b"\n" + data, b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"),
                            data[half:] + data[:half])), "order"
    else:
        at = draw.randrange(len(data))
        return data[:at], "cut at %d" % at
    return bytes(changed), "%s at %d" % (way, at)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(ridge, words, name, before):
    """What is wrong with this call, or nothing."""
    try:
        done = subprocess.run([ridge] + words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              preexec_fn=limit, timeout=KILL_SECONDS)
    except subprocess.TimeoutExpired:
        return "has not ended after %d s" % KILL_SECONDS
    text, after = done.stderr.decode(errors="replace"), contents()
    left = sorted(set(after) - set(before))
    for path in left:
        os.remove(path)
    if done.returncode not in (0, 1):
        return "ended with %d: %r" % (done.returncode, text)
    if any(ord(c) < 32 and c != "\n" for c in text):
        return "control characters: %r" % text
    if done.returncode == 1 and (text.count("\n") != 1 or not text.startswith("ridge: ")):
        return "not one line that begins with ridge: %r" % text
    if done.returncode == 1 and left:
        return "left %s: %r" % (left, text)
    changed = [path for path in before if path != name and after.get(path) != before[path]]
    return "changed %s" % changed if changed else ""


def main():
    ridge = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    each = 20 if os.environ.get("RIDGE_SLOW") else 2
    calls = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs(ridge)
        before = contents()
        for name, several in CALLS.items():
            if only not in name:
                continue
            draw = random.Random("%d %s" % (seed, name))
            for words in several:
                if wrong := fault(ridge, words, name, before):
                    print("FAILED: the undamaged call, ridge %s: %s" % (" ".join(words), wrong))
                    failures += 1
            for _ in range(each * len(several)):
                data, way = damaged(draw, before[name])
                with open(name, "wb") as file:
                    file.write(data)
                words = draw.choice(several)
                calls += 1
                if wrong := fault(ridge, words, name, before):
                    print("FAILED: seed %d, %s (%s), ridge %s: %s" % (seed, name, way, " ".join(words), wrong), flush=True)
                    failures += 1
            with open(name, "wb") as file:
                file.write(before[name])
        os.chdir("/")
    print("%d calls, %d failures" % (calls, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
