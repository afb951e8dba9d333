"""FFTW's own test driver on the drop-in library: thousands of random problems, each verified by the driver itself.

RIDGE_FFTW_BENCH names the driver: `tests/bench` as FFTW's own build makes it, one program or several (both precisions) separated
by colons, linked against libfftw3 as a shared library. Without it the test is skipped (77).

  driver_test.py LIBRARY [PROBLEMS [SEED]]
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

KINDS = ("f", "b", "h", "e00", "e01", "e10", "e11", "o00", "o01", "o10", "o11")
AT_ONCE = 40  # problems per process: a plan that spoils memory is found near its cause


def length(draw, most):
    """A product of factors up to 13, or sometimes any number: primes among them."""
    if draw.random() < 0.2:
        return draw.randint(1, max(1, int(most)))
    n = 1
    while True:
        factor = draw.randint(1, 13)
        if n * factor > most:
            return n
        n *= factor


def problems(draw):
    """Problems of one geometry, as the driver writes them: (i)n place or (o)ut, (f)orward or (b)ackward, // for split arrays."""
    rank, vector = draw.randint(1, 4), draw.choice(("", "v", "*"))
    points = draw.randint(2, 20000)
    real_to_real = draw.random() < 0.4
    axes = []
    for left in range(rank, 0, -1):
        n = length(draw, 2 + points ** (1 / left))
        points = max(1, points // n)
        kind = draw.choice(KINDS) if real_to_real else ""
        # The driver's own reference is wrong for o01 of one point beside other axes: FFTW fails there, too.
        axes.append(f"{max(n, 2) if kind in ('e00', 'o01') else n}{kind}")
    size = "x".join(axes) + (f"{vector}{draw.randint(1, 1 + int(points ** 0.5))}" if vector else "")
    if draw.random() < 0.3:
        size = "d" + size  # the input may be destroyed
    if real_to_real:
        return [f"{place}k{size}" for place in "io"]
    made = []
    for kind in "cr":
        for split in ("", "//"):
            if split and kind == "r" and (vector or rank > 1):
                continue  # the driver has no such problems in place
            made += [f"{split}{place}{way}{kind}{size}" for place in "io" for way in "fb"]
    return made


def run(driver, library, options, some, folder):
    """What went wrong with these problems in one process, in words; empty: nothing."""
    trace = folder / "trace"
    command = [driver, *options] + [word for problem in some for word in ("--verify", problem)]
    environment = os.environ | {"LD_PRELOAD": library, "RIDGE_FFTW_TRACE": str(trace)}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    planned = trace.read_text(encoding="ascii").splitlines() if trace.exists() else []
    trace.unlink(missing_ok=True)
    refused = [line for line in planned if line.startswith("none")]
    if done.returncode == 0 and not refused and len(planned) >= len(some):
        return ""
    told = (done.stdout + done.stderr).strip().splitlines()
    return f"exit {done.returncode}, {len(planned)} plans of ours, {len(refused)} refused: {' / '.join(told[-3:])}"


def check(driver, library, options, some, folder):
    """Prints which of the problems fail alone, or that they fail together only."""
    wrong = run(driver, library, options, some, folder)
    if not wrong:
        return True
    alone = [(one, run(driver, library, options, [one], folder)) for one in some]
    for problem, what in [one for one in alone if one[1]][:5] or [(" ".join(some), wrong)]:
        print(f"FAILED: {driver} {' '.join(options)} --verify {problem}: {what}")
    return False


def main():
    drivers = [one for one in os.environ.get("RIDGE_FFTW_BENCH", "").split(":") if one]
    if not drivers:
        print("skipped: RIDGE_FFTW_BENCH does not name FFTW's test driver (tests/bench)")
        return 77
    library = str(pathlib.Path(sys.argv[1]).resolve())
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    failed = 0
    for driver in drivers:
        if not os.access(driver, os.X_OK):
            print(f"RIDGE_FFTW_BENCH: {driver} is no program")
            return 1
        draw = random.Random(seed)
        done = 0
        with tempfile.TemporaryDirectory() as name:
            while done < count:
                some = []
                while len(some) < AT_ONCE:
                    some += problems(draw)
                options = draw.choice([[], ["-opatient"], ["-oestimate", "-onthreads=2"]] + 5 * [["-oestimate"]])
                failed += not check(driver, library, options, some, pathlib.Path(name))
                done += len(some)
        print(f"{driver}: {done} problems, seed {seed}")
    print(f"{failed} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
