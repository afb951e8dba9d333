"""Tests ridge fft --memory, transpose and convolve beyond --memory: values, resuming after kill -9, refusals. Needs NumPy."""
import os
import re
import signal
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


def call(*words, expect=0, command="fft"):
    done = subprocess.run([ridge, command, *map(str, words)], capture_output=True, text=True)
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


def cosine(kind, n):
    """The matrix of FFTW's definition."""
    j, k = np.meshgrid(np.arange(n), np.arange(n))
    if kind == "dct1":
        m = 2 * np.cos(np.pi * j * k / (n - 1))
        m[:, 0] /= 2
        m[:, -1] /= 2
        return m
    if kind == "dct3":
        m = 2 * np.cos(np.pi * j * (k + .5) / n)
        m[:, 0] = 1
        return m
    if kind == "dst3":
        m = 2 * np.sin(np.pi * (j + 1) * (k + .5) / n)
        m[:, -1] /= 2
        return m
    if kind == "hartley":
        return np.cos(2 * np.pi * j * k / n) + np.sin(2 * np.pi * j * k / n)
    return {"dct2": 2 * np.cos(np.pi * (j + .5) * k / n), "dct4": 2 * np.cos(np.pi * (j + .5) * (k + .5) / n),
            "dst1": 2 * np.sin(np.pi * (j + 1) * (k + 1) / (n + 1)), "dst2": 2 * np.sin(np.pi * (j + .5) * (k + 1) / n),
            "dst4": 2 * np.sin(np.pi * (j + .5) * (k + .5) / n)}[kind]


def reals():
    """Cosine and sine transforms in passes, against the sums of their definitions; a round trip restores the samples."""
    for kinds, shape, memory in ((["dct2", "dct2"], (60, 45), 15000), (["dct1", "dst3"], (7, 131), 6000), (["dst4", "dct4"], (50, 41), 9000),
                                 (["dct3", "hartley", "dst1"], (6, 10, 9), 4000), (["dst2", "dct2"], (64, 64), "64M")):
        x = samples(shape, np.float64)
        want = x
        for axis, kind in enumerate(kinds):
            want = np.moveaxis(np.tensordot(cosine(kind, shape[axis]), want, (1, axis)), 0, axis)
        names = kinds[0] if len(set(kinds)) == 1 else ",".join(kinds)
        compare(x, (want, shape), memory if memory != "64M" else 1 << 26, "--r2r", names)
        compare(want, (x, shape), memory if memory != "64M" else 1 << 26, "--r2r", names, "--inverse", "--scale", "1/n")
        compare(x.astype(np.float32), (want, shape), memory if memory != "64M" else 1 << 26, "--r2r", names)
    i = chance.integers(-100, 100, (50, 40)).astype(np.int16)
    compare(i, (cosine("dct2", 50) @ i @ cosine("dct2", 40).T, i.shape), 9000, "--r2r", "dct2", "--type", "f64")
    batch = samples((5, 30), np.float64)
    np.save("in.npy", batch)
    call("in.npy", "out.npy", "--r2r", "dct2")  # the last axis, other axes are a batch
    assert abs(np.load("out.npy") - batch @ cosine("dct2", 30).T).max() < 1e-12 * 60
    os.remove("out.npy")
    for words, text in ((["--r2r", "dct9"], "kinds are"), (["--r2r", "dct2,dct2"], "one for each of the 1 axes"),
                        (["--r2r", "dct2", "--real"], "exclude each other"), (["--r2r", "dct2", "--device", "best+host"], "--device host")):
        assert text in call("in.npy", "out.npy", *words, expect=1), text
    for kind in ("dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4", "hartley", "halfcomplex"):
        n = {"dct1": 901, "dst1": 899}.get(kind, 900)
        x = samples(n, np.float64)
        if kind == "halfcomplex":
            half = np.fft.rfft(x)
            want = np.concatenate([half.real, half.imag[1:(n + 1) // 2][::-1]])
        else:
            want = cosine(kind, n) @ x
        compare(x, (want, (n,)), 11000, "--r2r", kind)
        compare(want, (x, (n,)), 11000, "--r2r", kind, "--inverse", "--scale", "1/n")
    os.remove("out.npy")
    np.save("line.npy", samples(1009, np.float64))
    assert "is prime" in call("line.npy", "out.npy", "--r2r", "dct2", "--memory", "9000", expect=1)
    np.save("in.npy", samples(10, np.complex64))
    assert "needs real samples" in call("in.npy", "out.npy", "--r2r", "dct2", expect=1)
    os.remove("line.npy")
    assert not os.path.exists("out.npy")




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
    z = samples((600, 520), np.complex64)  # tiles of whole pages, which are transferred without a copy, and smaller ones at the ends
    compare(z, (np.fft.fftn(z.astype(np.complex128)), z.shape), 3400000)
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


def transposes():
    for dtype, shape in ((np.uint8, (60, 45)), (np.int16, (1, 7)), (np.float32, (7, 131)), (np.complex64, (3, 33, 29)),
                         (np.complex128, (2, 2, 31, 2)), (np.float64, (1, 1))):
        x = samples(shape, dtype) if np.dtype(dtype).kind == "c" else chance.integers(0, 100, shape).astype(dtype)
        np.save("in.npy", x)
        for memory in (4 * max(shape) * x.itemsize * 9, "64M"):
            call("in.npy", "out.npy", "--memory", memory, command="transpose")
            got = np.load("out.npy")
            assert got.dtype == x.dtype and np.array_equal(got, np.swapaxes(x, -1, -2)), (dtype, shape, memory)
    assert sorted(os.listdir(".")) == ["in.npy", "out.npy"], os.listdir(".")
    x = chance.integers(0, 1 << 30, (201, 177)).astype(np.int32)
    np.save("in.npy", x)
    words = ["in.npy", "out.npy", "--memory", "20000"]
    with open("out.npy.ridge-progress", "w") as file:
        file.write("another problem\n")
    assert "--resume" in call(*words, expect=1, command="transpose")
    assert "another problem" in call(*words, "--resume", expect=1, command="transpose")
    os.remove("out.npy.ridge-progress")
    killed("transpose", words)
    assert np.array_equal(np.load("out.npy"), x.T)
    np.save("in.npy", np.arange(5.0))
    assert "at least 2" in call("in.npy", "out.npy", expect=1, command="transpose")
    np.save("in.npy", np.zeros((3, 100), np.int16))
    assert "at least" in call("in.npy", "out.npy", "--memory", "100", expect=1, command="transpose")


def links():
    """A link stays a link, its target keeps its permissions, and an input that has a work file's name is kept."""
    x = samples((60, 64), np.complex64)
    np.save("in.npy", x)
    np.save("h.npy", samples(5, np.complex64))
    os.mkdir("sub")
    for command, *words in (("fft", "--shape", "60x64", "--memory", "30000"), ("transpose", "--memory", "30000"), ("transpose",),
                            ("convolve", "h.npy")):
        with open("sub/out.npy", "w") as file:
            file.write("old")
        os.chmod("sub/out.npy", 0o600)
        os.symlink("sub/out.npy", "out.npy")
        names = ["in.npy", words.pop(0), "out.npy"] if command == "convolve" else ["in.npy", "out.npy"]
        call(*names, *words, command=command)
        assert os.path.islink("out.npy") and os.stat("sub/out.npy").st_mode & 0o777 == 0o600, command
        assert np.load("out.npy").ndim == 2 and os.listdir("sub") == ["out.npy"], os.listdir("sub")
        os.remove("out.npy")
        for end in (".ridge-a", ".ridge-b", ".ridge-progress"):
            os.rename("in.npy", "out.npy" + end)
            names[0] = "out.npy" + end
            assert "this is also the input" in call(*names, *words, expect=1, command=command)
            os.rename("out.npy" + end, "in.npy")
        assert np.array_equal(np.load("in.npy"), x)
        if os.geteuid() != 0:
            os.chmod("sub/out.npy", 0o400)
            names[0], names[-1] = "in.npy", "sub/out.npy"
            assert "read-only" in call(*names, *words, expect=1, command=command)
        os.chmod("sub/out.npy", 0o600)
        os.remove("sub/out.npy")
    os.rmdir("sub")


def peak_memory():
    """The process keeps to its limit: panels that were freed are not kept by the threads that read them."""
    # A small interpreter starts the command: the peak of a process includes that of its parent until exec.
    script = "import os, resource, sys; s = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:]); print(s, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"

    def peak(*words):
        out = subprocess.run([sys.executable, "-S", "-c", script, ridge, *words], check=True, capture_output=True, text=True).stdout
        status, kilobytes = map(int, out.split()[-2:])
        assert status == 0, words
        return kilobytes * 1024
    nothing, limit = peak("fft", "explain", "16", "--quick"), 48 << 20
    np.save("in.npy", samples((4096, 4096), np.float32))
    for words in (["--r2r", "dct2"], ["--real"]):
        used = peak("fft", "in.npy", "out.npy", "--shape", "4096x4096", "--memory", str(limit), *words) - nothing
        assert used < 1.15 * limit, (words, used, limit)


def least_memory():
    """Tiles of less than a page are refused, and the limit that the error names is enough."""
    x = samples((512, 512), np.complex64)
    np.save("in.npy", x)
    for words, want in ((["fft", "--shape", "512x512"], np.fft.fft2(x)), (["transpose"], x.T)):
        said = call("in.npy", "out.npy", *words[1:], "--memory", 40000, expect=1, command=words[0])
        enough = re.search(r"--memory 40000 is too little: .* at least (\d+) bytes", said)
        call("in.npy", "out.npy", *words[1:], "--memory", enough[1], command=words[0])
        assert abs(np.load("out.npy") - want).max() < 1e-5 * abs(want).max()


def full_disk():
    """A file system that is too small is refused before anything is written, and the space that the error names is enough."""
    script = 'mount -t tmpfs -o size="$1" tmpfs small && cd small && shift && "$@"; echo "exit $? left $(ls -A | wc -l)"'

    def on_disk(size, *words):
        done = subprocess.run(["unshare", "-m", "--propagation", "private", "bash", "-c", script, "disk", str(size), ridge, *map(str, words)],
                              capture_output=True, text=True)
        return done.stdout.split(), done.stderr
    os.mkdir("small")
    if subprocess.run(["unshare", "-m", "--propagation", "private", "mount", "-t", "tmpfs", "tmpfs", "small"], capture_output=True).returncode != 0:
        print("the full disk was not tested: this user may not mount a file system")
        return
    np.save("in.npy", samples((200, 150), np.float64))
    np.save("long.npy", samples((2, 20000), np.float64))
    np.save("filter.npy", samples(20, np.float64))
    for words in (["fft", "../in.npy", "out.npy", "--shape", "200x150", "--memory", "60000"],
                  ["fft", "../in.npy", "out.npy", "--shape", "200x150", "--memory", "60000", "--real"],
                  ["transpose", "../in.npy", "out.npy", "--memory", "60000"],
                  ["convolve", "../long.npy", "../filter.npy", "out.npy", "--memory", "30000"]):
        said, error = on_disk("64k", *words)
        found = re.fullmatch(r"ridge: .*/small: needs (\d+) bytes of free space for .*work files?, has 65536\n", error)
        assert found and said == ["exit", "1", "left", "0"], (words, said, error)
        pages = 2  # the record of finished panels, and what replaces it
        said, error = on_disk((int(found[1]) // 4096 + 1 + pages) * 4096, *words)
        assert said == ["exit", "0", "left", "1"], (words, said, error)
    os.rmdir("small")


def killed(command, words):
    """Kills the command once it has finished some panels, and continues it."""
    process = subprocess.Popen([ridge, command, *words], stderr=subprocess.DEVNULL)
    while process.poll() is None and not (os.path.exists("out.npy.ridge-progress")
                                          and os.path.getsize("out.npy.ridge-progress") > 150):
        time.sleep(0.001)
    if process.poll() is None and os.path.exists("out.npy.ridge-progress"):
        process.send_signal(signal.SIGSTOP)
        if os.path.exists("out.npy.ridge-progress"):
            assert "another process" in call(*words, "--resume", expect=1, command=command)
    process.kill()
    process.wait()
    if os.path.exists("out.npy.ridge-progress"):
        with open("out.npy.ridge-progress") as file:
            state = file.read()
        call(*words, "--resume", command=command)
        # With a record of panels but no work file, as after a kill at the very end, the finished output is kept.
        with open("out.npy", "rb") as file:
            whole = file.read()
        with open("out.npy.ridge-progress", "w") as file:
            file.write(state)
        if ":" in state:
            assert "cannot open it" in call(*words, "--resume", expect=1, command=command)
            with open("out.npy", "rb") as file:
                assert file.read() == whole
        os.remove("out.npy.ridge-progress")
    assert not [name for name in os.listdir(".") if "ridge" in name], os.listdir(".")


def convolutions():
    for dtype, kind, n, k, lines, mode in (
            (np.float64, np.float64, 1009, 17, 2, "full"), (np.complex128, np.float64, 1009, 17, 1, "same"),
            (np.int32, np.complex128, 300, 8, 3, "valid"), (np.float32, np.float32, 300, 8, 4, "same"),
            (np.int16, np.float32, 1, 1, 1, "valid"), (np.complex64, np.complex64, 2, 3, 1, "full"), (np.float64, np.float64, 50, 50, 3, "valid")):
        x, h = (10 * samples((lines, n), dtype if np.dtype(dtype).kind == "c" else np.float64)).astype(dtype), samples(k, kind)
        np.save("in.npy", x)
        np.save("filter.npy", h)
        first, count = {"full": (0, n + k - 1), "same": ((k - 1) // 2, n), "valid": (k - 1, n - k + 1)}[mode]
        want = np.array([np.convolve(line.astype(np.clongdouble), h.astype(np.clongdouble)) for line in x])[:, first:first + count]
        for memory in (16 * 2 * k * 9 + 2000, "64M"):
            call("in.npy", "filter.npy", "out.npy", "--mode", mode, "--memory", memory, command="convolve")
            got = np.load("out.npy")
            assert got.shape == want.shape and np.iscomplexobj(got) == (np.iscomplexobj(x) or np.iscomplexobj(h))
            worst = abs(got - want).max() / max(abs(want).max(), 1)
            assert worst < (2e-6 if got.dtype in (np.float32, np.complex64) else 1e-14), (dtype, n, k, mode, memory, worst)
    np.save("filter.npy", samples(51, np.float64))
    assert "valid" in call("in.npy", "filter.npy", "out.npy", "--mode", "valid", expect=1, command="convolve")
    np.save("in.npy", samples((2, 8000), np.float32))
    np.save("filter.npy", samples(50, np.float32))
    words = ["in.npy", "filter.npy", "out.npy", "--memory", "16000"]
    call(*words, command="convolve")
    with open("out.npy", "rb") as file:
        whole = file.read()
    os.remove("out.npy")
    killed("convolve", words)
    with open("out.npy", "rb") as file:
        assert file.read() == whole
    assert "too little" in call("in.npy", "filter.npy", "out.npy", "--memory", "1000", expect=1, command="convolve")
    assert "one axis" in call("filter.npy", "in.npy", "out.npy", expect=1, command="convolve")


for test in (values, reals, resumed, refusals, links, least_memory, full_disk, peak_memory, transposes, convolutions):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test()
        os.chdir("/")
print("values, resuming and refusals are right")
