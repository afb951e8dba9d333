"""Tests ridge fft --memory with transforms that exceed it: values, resuming after kill -9, refusals. Needs NumPy."""
import os
import random
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ridge = os.path.abspath(sys.argv[1])
chance = np.random.default_rng(2)


def call(*words, expect=0):
    done = subprocess.run([ridge, "fft", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == expect, (words, done.returncode, done.stderr)
    assert expect == 0 or done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def samples(shape, dtype):
    x = chance.standard_normal(shape)
    return (x + 1j * chance.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def compare(x, want, memory, *words):
    np.save("in.npy", np.ascontiguousarray(x))
    call("in.npy", "out.npy", "--shape", "x".join(map(str, want[1])), "--memory", memory, *words)
    got = np.load("out.npy")
    assert got.shape == want[0].shape, (got.shape, want[0].shape)
    tolerance = 1e-12 if got.dtype in (np.complex128, np.float64) else 2e-6
    worst = abs(got - want[0]).max() / abs(want[0]).max()
    assert worst < tolerance, (x.shape, words, worst)
    assert sorted(os.listdir(".")) == ["in.npy", "out.npy"], os.listdir(".")
    if x.nbytes + got.nbytes > memory:  # computed out of core: the header fills a page
        assert os.path.getsize("out.npy") == 4096 + got.nbytes
        large.append(words)


large = []


def values():
    for shape, memory in (((60, 45), 30000), ((7, 131), 12000), ((6, 10, 9), 9000)):
        x = samples(shape, np.complex128)
        compare(x, (np.fft.fftn(x), shape), memory)
        compare(x, (np.fft.ifftn(x), shape), memory, "--inverse", "--scale", "1/n")
        r = samples(shape, np.float64)
        h = np.fft.rfftn(r)
        compare(r, (h, shape), memory, "--real")
        compare(h, (r, shape), memory, "--real", "--inverse", "--scale", "1/n")
    x = samples((50, 40), np.complex64)
    y = np.fft.fftn(x.astype(np.complex128))  # NumPy 2 transforms complex64 in single precision
    compare(x, (y, x.shape), 9000)
    compare(x, (y, x.shape), 20000, "--type", "f64")
    i = chance.integers(-100, 100, (50, 40)).astype(np.int16)
    compare(i, (np.fft.fftn(i), i.shape), 12000, "--type", "f64")
    for n in (1000, 2 * 499, 30 * 37):
        x = samples(n, np.complex128)
        memory = 80 * 512 if n == 998 else 6000
        if 32 * n > memory:
            compare(x, (np.fft.fft(x), x.shape), memory)
            compare(x, (np.fft.ifft(x), x.shape), memory, "--inverse", "--scale", "1/n")
    r = samples(1001, np.float64)
    compare(r, (np.fft.rfft(r), r.shape), 9000, "--real")
    assert len(large) > 12, len(large)


def resumed():
    """Kills the command at random moments and continues until it ends; the bytes are those of an undisturbed run."""
    x = samples((300, 280), np.complex64)
    np.save("in.npy", np.ascontiguousarray(x))
    words = ["in.npy", "out.npy", "--shape", "300x280", "--memory", "60000"]
    call(*words)
    with open("out.npy", "rb") as file:
        whole = file.read()
    os.remove("out.npy")
    random.seed(4)
    kills = 0
    for attempt in range(200):
        state = os.path.exists("out.npy.ridge-progress")
        process = subprocess.Popen([ridge, "fft", *words, *(["--resume"] if state else [])], stderr=subprocess.PIPE)
        if kills < 5:
            before = os.path.getsize("out.npy.ridge-progress") if state else 0
            while process.poll() is None and (not os.path.exists("out.npy.ridge-progress")
                                              or os.path.getsize("out.npy.ridge-progress") < before + 100):
                time.sleep(0.002)
            time.sleep(random.random() * 0.02)
            process.kill()
            process.wait()
            process.stderr.close()
            kills += process.returncode == -9
            if os.path.exists("out.npy"):
                break
        else:
            assert process.wait() == 0, process.stderr.read()
            process.stderr.close()
            break
    assert kills >= 1
    with open("out.npy", "rb") as file:
        assert file.read() == whole
    assert sorted(os.listdir(".")) == ["in.npy", "out.npy"], os.listdir(".")


def refusals():
    np.save("in.npy", samples((100, 100), np.complex64))
    words = ["in.npy", "out.npy", "--shape", "100x100", "--memory"]
    assert "at least" in call(*words, "2000", expect=1)
    np.save("prime.npy", samples(10007, np.complex64))
    assert "prime" in call("prime.npy", "out.npy", "--memory", "90000", expect=1)
    np.save("half.npy", samples(5001, np.complex64))
    assert "not supported" in call("half.npy", "out.npy", "--shape", "10000", "--real", "--inverse", "--memory", "9000", expect=1)
    assert "fits in memory" in call(*words, "64M", "--resume", expect=1)
    assert not os.path.exists("out.npy") and not [name for name in os.listdir(".") if "ridge" in name]
    # An interrupted run is neither overwritten nor continued with another problem.
    with open("out.npy.ridge-progress", "w") as file:
        file.write("another problem\n1:0\n")
    assert "--resume" in call(*words, "30000", expect=1)
    assert "another problem" in call(*words, "30000", "--resume", expect=1)
    with open("out.npy.ridge-progress") as file:
        assert file.read() == "another problem\n1:0\n"


for test in (values, resumed, refusals):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test()
        os.chdir("/")
print("values, resuming and refusals are right")
