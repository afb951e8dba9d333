#!/usr/bin/env python3
"""Long operations show a progress bar on a terminal, and none in a pipe.

    progress_test.py RIDGE

Each command runs once with a pseudo-terminal as its stderr and once with a pipe.
"""

import os
import pty
import struct
import subprocess
import sys
import tempfile

SMALL = ["--device", "host"]
COMMANDS = [
    ["stencil", "acoustic", "--size", "200x200", "--steps", "400"] + SMALL,
    ["stencil", "acoustic", "--size", "200x200", "--steps", "3000", "--record", "heard.npy"] + SMALL,
    ["stencil", "maxwell", "--size", "200x200", "--steps", "400"] + SMALL,
    ["stencil", "heat", "--no-leap", "--size", "100x100", "--steps", "100"] + SMALL,
    ["stencil", "life", "--size", "100x100", "--steps", "100"] + SMALL,
    ["variance", "--study", "--window", "3"],
    ["check", "transpose", "--seconds", "0.2"] + SMALL,
    ["sar", "--pulses", "128", "--samples", "1024", "--method", "backprojection"] + SMALL,
    ["sar", "--pulses", "128", "--samples", "1024", "--method", "factorized"] + SMALL,
    ["dedisperse", "volts.raw", "out.raw", "--dm", "1", "--centre", "1400", "--rate", "1"] + SMALL,
    ["channelize", "synthesize", "volts.raw", "out.raw", "--channels", "16", "--taps", "4", "--memory", "64K", "--quiet"],
    ["periods", "power.fil", "--acceleration", "-20..20", "--acceleration-step", "5"] + SMALL,
    ["transpose", "volts.npy", "out.npy", "--memory", "1000000"],
    ["convolve", "volts.npy", "line.npy", "out.npy", "--memory", "100000"],
]
PLACE = ["place", "loop.cpp", "--function", "twice", "--emit", "openmp"]
BAR = b"] "  # of "[###...]  10 %"
CLEAR = b"\r\x1b[K"


def on_terminal(ridge, words):
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([ridge] + words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    return process.wait(), text


def npy(name, shape):
    """An array of zeros, complex64."""
    header = "{'descr': '<c8', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    size = 8
    for n in shape:
        size *= n
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(size))


def main():
    ridge = os.path.abspath(sys.argv[1])
    failures = 0

    def fail(words, what):
        nonlocal failures
        failures += 1
        print("FAILED: ridge %s: %s" % (" ".join(words), what))

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("loop.cpp", "w") as file:
            file.write("void twice(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2; }\n")
        with open("volts.raw", "wb") as file:
            file.write(bytes(16 * 8 * 20000))
        for name, shape in (("volts.npy", (1, 20000)), ("line.npy", (8,))):
            npy(name, shape)
        subprocess.run([ridge, "search", "signal", "power.fil", "--channels", "16", "--seconds", "4"], check=True, stdout=subprocess.DEVNULL)
        commands = list(COMMANDS)
        there = subprocess.run([ridge, "place", "loop.cpp", "--verdicts"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if there.returncode == 0:
            commands.append(PLACE)
        else:
            print("no placement compiler here: its progress is not tested")
        for words in commands:
            code, text = on_terminal(ridge, words)
            if code != 0:
                fail(words, "ended with %d: %r" % (code, text))
            elif b"[" not in text or b" %" not in text or BAR not in text:
                fail(words, "no progress on a terminal: %r" % text)
            elif not text.rstrip(b"\n").endswith(CLEAR) and CLEAR not in text[text.rfind(b" %"):]:
                fail(words, "the bar is still there at the end: %r" % text[-200:])
            piped = subprocess.run([ridge] + words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if piped.stderr:
                fail(words, "in a pipe: %r" % piped.stderr)
        # An error has the line to itself.
        words = ["stencil", "euler", "--size", "64x64", "--steps", "100000", "--gamma", "1.4", "--courant", "0.9",
                 "--every", "10", "--out", "no/such/x.pvd"]
        code, text = on_terminal(ridge, words)
        if code != 1 or not text.startswith(b"ridge: "):
            fail(words, "%d: %r" % (code, text))
        os.chdir("/")
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
