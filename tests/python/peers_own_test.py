"""Runs SciPy's and NumPy's own tests of their transforms on ridge in three ways: ridge's functions in place of scipy.fft's, ridge.fft
as SciPy's global back end, ridge's functions in place of numpy.fft's. Skipped without pytest or where the packages have no tests.

DIFFERENCES lists every test that fails, with the reason. A test that fails and is not listed fails this one, and so does an entry
whose tests all pass, if they should fail everywhere. Of a test with many parameters some are run; with RIDGE_SLOW=1 all of them."""
import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import warnings

FEW = {"scipy functions": 6, "scipy back end": 2, "numpy functions": 6}  # parameters to run per test; a back end calls the same functions
# (tests, reason, True if they fail on every machine)
LONG_DOUBLE = (r"float128|complex256|longdouble|longcomplex|longfloat", "long double is declined with NotImplementedError; through scipy.fft SciPy computes it", True)
ORDER = (r"test_fft_with_order\[fftn-.*-float32\]", "the order of axes depends on strides: float32 sums of 300 differ by their last bits, "
         "the test wants 6 decimals of all", False)
SINES = (r"test_orthogonalize_dcst[23]\[dst-|test_fftpack_equivalience\[ortho-[23]-dstn?\]",
         "before 1.12 SciPy scaled the first value of sine transforms, which is not orthogonal", False)
DIFFERENCES = {
    "scipy functions": [LONG_DOUBLE, ORDER, SINES],
    "scipy back end": [ORDER, SINES],
    "numpy functions": [
        LONG_DOUBLE,
        (r"test_s_axes_none", "s without axes is no error in SciPy: no warning", True),
        (r"test_s_contains_none", "None in s is deprecated by NumPy 2, and an error in SciPy", True),
        (r"test_rfftn$", "repeated axes are an error, as in SciPy; NumPy 2 transforms them again", False)],
}
# Tests of parts other than the replaced transforms.
ELSEWHERE = {
    "scipy functions": r"test_backend\.py|test_fft_function",  # tests SciPy's dispatch, which is not used here, and its namespace
    "scipy back end": "test_fft_function", "numpy functions": "$^",
}
WHOLE = re.compile("TestOverwrite")  # always with every parameter: tests changes of the caller's data
FUNCTIONS = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft", "ihfft",
             "hfft2", "ihfft2", "hfftn", "ihfftn", "dct", "idct", "dctn", "idctn", "dst", "idst", "dstn", "idstn", "next_fast_len",
             "set_workers", "get_workers")


class Watch:
    """Selects the tests and collects the failures."""

    def __init__(self, mode):
        self.mode, self.run, self.failed = mode, set(), {}

    def pytest_collection_modifyitems(self, items):
        taken, kept = {}, []
        for item in items:
            name = item.nodeid.split("[")[0]
            taken[name] = taken.get(name, 0) + 1
        seen = {}
        for item in items:
            name = item.nodeid.split("[")[0]
            seen[name] = seen.get(name, 0) + 1
            whole = WHOLE.search(name) and self.mode != "scipy back end"
            step = 1 if os.environ.get("RIDGE_SLOW") or whole else -(-taken[name] // FEW[self.mode])
            if (seen[name] - 1) % step == 0 and not re.search(ELSEWHERE[self.mode], name):
                kept.append(item)
        items[:] = kept

    def pytest_runtest_logreport(self, report):
        if not report.skipped:
            self.run.add(report.nodeid)
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]


def put_in_place(mode):
    """Replaces the peer's functions. Newer tests of SciPy look functions up in a table of their properties."""
    import ridge.fft
    if mode == "scipy back end":
        import scipy.fft
        scipy.fft.set_global_backend(ridge.fft)
        return
    if mode == "scipy functions":
        import scipy.fft as theirs
    else:
        import numpy.fft as theirs
    table = {}
    if mode == "scipy functions":
        with contextlib.suppress(ImportError):
            from scipy._lib._array_api import xp_capabilities_table as table
    for name in FUNCTIONS:
        if hasattr(theirs, name):
            mine = getattr(ridge.fft, name)
            if getattr(theirs, name) in table:
                table[mine] = table[getattr(theirs, name)]
            setattr(theirs, name, mine)


def run_mode(mode, folders):
    import numpy
    import pytest
    warnings.simplefilter("ignore")
    put_in_place(mode)
    Watch.xp = staticmethod(pytest.fixture(lambda: numpy, name="xp"))  # of SciPy's conftest.py, which is not used
    watch = Watch(mode)
    pytest.main(["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "--noconftest", "--disable-warnings", "-o", "addopts=", "-W",
                 "ignore", *folders], plugins=[watch])
    known = {entry: [t for t in watch.run if re.search(entry[0], t)] for entry in DIFFERENCES[mode]}
    listed = {t for tests in known.values() for t in tests}
    wrong = [f"{test}: {line}" for test, line in watch.failed.items() if test not in listed]
    wrong += [f"{pattern}: listed as a difference, and all its tests pass" for (pattern, _, always), tests in known.items()
              if always and tests and not any(t in watch.failed for t in tests)]
    print(f"{mode}: {len(watch.run)} tests, {len(watch.failed) - len(wrong)} known differences, {len(wrong)} wrong")
    for (pattern, reason, _), tests in known.items():
        print(f"  {sum(t in watch.failed for t in tests)} of {len(tests)} {pattern}: {reason}")
    for line in wrong[:40]:
        print("  " + line)
    return 1 if wrong or len(watch.run) < 40 else 0


def main():
    for module in ("numpy", "scipy", "pytest"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: no {module}")
            return 77
    import numpy
    import scipy
    scipys = [os.path.join(scipy.__path__[0], "fft", *part, "tests") for part in ((), ("_pocketfft",), ("_duccfft",))]
    modes = [("scipy functions", scipys), ("scipy back end", scipys), ("numpy functions", [os.path.join(numpy.__path__[0], "fft", "tests")])]
    worst = ran = 0
    for mode, folders in modes:
        folders = [folder for folder in folders if os.path.isdir(folder)]
        if not folders:
            print(f"{mode}: the package is installed without its tests")
            continue
        ran += 1
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        worst = max(worst, abs(subprocess.run([sys.executable, __file__, mode, *folders], env=environment).returncode))
    return worst if ran else 77


if __name__ == "__main__":
    sys.exit(run_mode(sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else main())
