"""Runs SciPy's docstring examples (scipy.fft, and functions of scipy.signal and others that use transforms) on SciPy's back end and
on ridge.fft: every value that an example prints or stores must be the same. Skipped without SciPy."""
import doctest
import inspect
import re
import sys
import warnings

try:
    import numpy as np
    import scipy.fft
    import scipy.ndimage
    import scipy.signal
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge.fft

DRAWN = re.compile(r"\b(plt|fig\d*|ax(s|\d\w*|_\w+)?|cax|matplotlib)\b")  # statements that only draw are skipped
# Functions whose examples call transforms.
SIGNAL = ["fftconvolve", "oaconvolve", "convolve", "convolve2d", "correlate", "correlate2d", "hilbert", "hilbert2", "resample",
          "periodogram", "welch", "csd", "coherence", "spectrogram", "stft", "istft", "check_COLA", "check_NOLA", "choose_conv_method",
          "czt", "zoom_fft", "firwin2", "freqz", "minimum_phase", "envelope", "group_delay"]
served = {}


class Counting:
    """ridge.fft as a back end that records the calls."""
    __ua_domain__ = ridge.fft.__ua_domain__

    @staticmethod
    def __ua_function__(method, args, kwargs):
        result = ridge.fft.__ua_function__(method, args, kwargs)
        if result is not NotImplemented:
            served[method.__name__] = served.get(method.__name__, 0) + 1
        return result


def run(examples, name, may_fail=False):
    """The output of the statements, their variables, and how many ran: an example may need a package that is not installed."""
    shown, names = [], {"np": np, "scipy": scipy}
    hook, sys.displayhook = sys.displayhook, shown.append
    np.random.seed(5)
    try:
        for count, example in enumerate(examples):
            # The same random input for both.
            source = example.source.replace("default_rng()", "default_rng(5)")
            exec(compile(source, f"<example of {name}>", "single"), names)
        count = len(examples)
    except Exception:
        if not may_fail:
            raise
    finally:
        sys.displayhook = hook
    return shown, {key: value for key, value in names.items() if key not in ("np", "scipy", "__builtins__", "rng")}, count


def same(a, b, where):
    """Compares the values; returns their number."""
    if isinstance(a, (tuple, list)):
        assert type(a) is type(b) and len(a) == len(b), where
        return sum(same(x, y, where) for x, y in zip(a, b))
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        return sum(same(a[key], b[key], where) for key in a)
    if isinstance(a, (bool, int, str)):
        assert a == b, f"{where}: {a!r} and {b!r}"
        return 1
    if isinstance(a, (float, complex, np.generic, np.ndarray)):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{where}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if a.dtype.kind not in "fc":
            assert (a == b).all(), where
        else:
            single = a.dtype in (np.float32, np.complex64)
            finite = np.abs(a[np.isfinite(a)])
            largest = finite.max() if finite.size else 0.0
            np.testing.assert_allclose(b, a, rtol=1e-5 if single else 1e-9, atol=(1e-5 if single else 1e-12) * max(largest, 1.0),
                                       err_msg=where)
        return 1
    return 0


def compare(function, name, backend=Counting):
    """Number of values compared in a function's examples; 0 if it has none."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
    examples = [e for e in found if not DRAWN.search(e.source) and "timeit" not in e.source]
    if not examples:
        return 0
    wanted_shown, wanted, count = run(examples, name, may_fail=True)
    with scipy.fft.set_backend(backend):
        got_shown, got, _ = run(examples[:count], name)
    assert len(got_shown) == len(wanted_shown) and got.keys() == wanted.keys(), name
    return same(wanted_shown, got_shown, f"{name}: what it shows") + sum(same(wanted[key], got[key], f"{name}: {key}") for key in wanted)


warnings.simplefilter("ignore")
compared = {}
for module, names in ((scipy.fft, scipy.fft.__all__), (scipy.signal, SIGNAL)):
    for name in names:
        function = getattr(module, name, None)
        if not callable(function) or inspect.isclass(function) or name.endswith("backend") or name.endswith("workers"):
            continue
        values = compare(function, f"{module.__name__}.{name}")
        if values:
            compared[f"{module.__name__}.{name}"] = values
print(f"{sum(compared.values())} values of the examples of {len(compared)} functions; served: {dict(sorted(served.items()))}")
transforms = {name for name in compared if name.startswith("scipy.fft.")}
assert len(transforms) >= 20 and len(compared) >= 35, sorted(compared)
assert len(served) >= 16 and sum(served.values()) >= 60, served

# The module as the back end, as users pass it.
x = np.arange(6.0)
with scipy.fft.set_backend(ridge.fft, only=True):
    ours = scipy.fft.fft(x)
np.testing.assert_allclose(ours, np.fft.fft(x), atol=1e-12)

# Self-test of the comparison: a back end with errors in the sixth digit must fail.
class Wrong:
    __ua_domain__ = ridge.fft.__ua_domain__

    @staticmethod
    def __ua_function__(method, args, kwargs):
        result = ridge.fft.__ua_function__(method, args, kwargs)
        return result if result is NotImplemented else result * (1 + 1e-6)


try:
    compare(scipy.fft.fft, "scipy.fft.fft", Wrong)
except AssertionError:
    pass
else:
    raise AssertionError("a wrong back end went unnoticed")
