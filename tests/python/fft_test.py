"""Compares ridge.fft with scipy.fft: values, types, shapes, errors, SciPy's back-end protocol. Skipped without NumPy and SciPy."""
import os
import re
import subprocess
import sys
import threading
import unittest

try:
    import numpy as np
    import scipy.fft
    import scipy.signal
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
import ridge.fft as ours

COMPLEX = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn")
REAL = ("rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn")
TRIGONOMETRIC = ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn")
random = np.random.default_rng(1)


def samples(dtype, shape=(6, 10, 9)):
    x = random.standard_normal(shape) * 10
    if np.dtype(dtype).kind == "c":
        x = x + 1j * random.standard_normal(shape)
    return x.astype(dtype)


OLD_SINES = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 12)


def scipys(name, x, **arguments):
    """SciPy's value. Before 1.12 `orthogonalize` of sine transforms scaled the first value (SciPy's issue 18452): corrected here."""
    kind = arguments.get("type", 2)
    asked = arguments.get("orthogonalize", arguments.get("norm") == "ortho")
    if not (OLD_SINES and "dst" in name and asked and kind in (2, 3)):
        return getattr(scipy.fft, name)(x, **arguments)
    if x.dtype.kind == "c":  # SciPy 1.10 ignores `orthogonalize` of complex input
        return scipys(name, x.real, **arguments) + 1j * scipys(name, x.imag, **arguments)
    before = (kind == 3) != name.startswith("i")
    x = np.array(x, np.result_type(x, np.float32) if x.dtype.kind != "i" else np.float64)
    axes = range(x.ndim) if name.endswith("n") else [-1]
    for axis in axes if before else ():
        np.moveaxis(x, axis, 0)[-1] *= 2 ** 0.5
    y = getattr(scipy.fft, name)(x, **{**arguments, "orthogonalize": False})
    for axis in () if before else axes:
        np.moveaxis(y, axis, 0)[-1] *= 0.5 ** 0.5
    return y


class AgainstScipy(unittest.TestCase):
    def same(self, name, x, **arguments):
        want = scipys(name, x, **arguments)
        got = getattr(ours, name)(x, **arguments)
        single = want.dtype in (np.float32, np.complex64)
        where = f"{name} {x.dtype} {x.shape} {arguments}"
        self.assertEqual(want.dtype, got.dtype, where)
        self.assertEqual(want.shape, got.shape, where)
        error = np.linalg.norm(want - got)
        self.assertLessEqual(error, (2e-6 if single else 1e-14) * max(np.linalg.norm(want), 1), where)

    def test_every_function(self):
        for dtype in (np.float32, np.float64, np.complex64, np.complex128, np.int16, np.float16, np.bool_):
            whole = samples(dtype)
            for x in (whole, whole[::-1, ::2], whole.T, np.asfortranarray(whole)):
                for norm in (None, "ortho", "forward"):
                    for name in COMPLEX + (() if whole.dtype.kind == "c" else REAL):
                        self.same(name, x, norm=norm)
                for name in ("fft", "ifft", "irfft", "hfft"):
                    for n in (1, 7, 20):
                        for axis in (0, 1, -1):
                            if n > 1 or name in ("fft", "ifft"):
                                self.same(name, x, n=n, axis=axis)
                self.same("fftn", x, s=(4, 12), axes=(0, 2))
                self.same("ifftn", x, axes=(1,))
                self.same("irfftn", x, s=(4, 12), axes=(2, 0))

    def test_cosines_and_sines(self):
        for dtype in (np.float32, np.float64, np.int32, np.complex128):
            whole = samples(dtype, (5, 6, 8))
            for x in (whole, whole[::-1, ::2].T):
                for kind in (1, 2, 3, 4):
                    for norm in (None, "ortho", "forward"):
                        for name in TRIGONOMETRIC:
                            self.same(name, x, type=kind, norm=norm)
                            if dtype == np.complex128:  # SciPy 1.10 ignores `orthogonalize` for complex input
                                continue
                            self.same(name, x, type=kind, norm=norm, orthogonalize=True)
                            self.same(name, x, type=kind, norm=norm, orthogonalize=False)
                    self.same("dct", x, type=kind, n=9, axis=0)

    def test_orthogonal(self):
        """Transforms with norm="ortho" are orthogonal matrices, the sines of their definition."""
        for n in (1, 2, 3, 8, 17):
            for name in ("dct", "idct", "dst", "idst"):
                for kind in (1, 2, 3, 4):
                    for workers in (None, 2):  # the short path and the full one
                        if kind > 1 or n > 1 or "s" in name:
                            m = getattr(ours, name)(np.eye(n), kind, norm="ortho", workers=workers).T
                            np.testing.assert_allclose(m @ m.T, np.eye(n), atol=1e-14, err_msg=f"{name} {kind} {n}")
            k = np.arange(n, dtype=np.longdouble)
            m = np.sqrt(np.longdouble(2) / n) * np.sin(np.arccos(np.longdouble(-1)) * np.outer(k + 1, k + 0.5) / n)
            m[-1] /= np.sqrt(np.longdouble(2))
            np.testing.assert_allclose(ours.dst(np.eye(n), norm="ortho").T, m, atol=1e-15)
            np.testing.assert_allclose(ours.dst(np.eye(n), 3, norm="ortho").T, m.T, atol=1e-15)
            np.testing.assert_allclose(ours.dstn(np.eye(n), norm="ortho"), m @ m.T, atol=1e-14)

    def test_short_prime_and_long_lengths(self):
        for n in (1, 2, 3, 17, 97, 1009, 4096, 10007):
            self.same("fft", samples(np.complex128, (n,)))
            self.same("rfft", samples(np.float32, (n,)))
            self.same("dct", samples(np.float64, (n,)))

    def test_padded_arrays(self):
        """Arrays that end in zeros, against SciPy in long double. The zeros are not stored: the plan reads the given values."""
        def check(name, x, *arguments):
            wide = x.astype(np.longdouble if x.dtype.kind == "f" else np.clongdouble)
            got, want = getattr(ours, name)(x, *arguments), getattr(scipy.fft, name)(wide, *arguments)
            self.assertEqual((got.shape, got.dtype.kind), (want.shape, want.dtype.kind))
            self.assertEqual(got.real.dtype, x.real.dtype)
            error = np.linalg.norm((got - want).ravel()) / np.linalg.norm(want.ravel())
            self.assertLess(error, 1e-6 if x.dtype.char in "fF" else 1e-15, (name, x.shape, arguments))

        for real, wide in ((np.float32, np.complex64), (np.float64, np.complex128)):
            for m, n in ((1, 2), (2, 3), (3, 17), (1, 1009), (100, 194), (1000, 4097)):
                for shape, axis in (((m,), -1), ((4, m), 1), ((m, 3), 0), ((2, m, 3), 1)):
                    for name in ("fft", "ifft", "irfft", "hfft"):
                        check(name, samples(wide, shape), n, axis)
                    for name in ("rfft", "ihfft"):
                        check(name, samples(real, shape), n, axis, "ortho")
            for shape, s, axes in (((3, 5), (7, 11), None), ((3, 5), (7, 4), (1, 0)), ((3, 4, 5), (6, 5, 9), None), ((1, 1), (2, 3), None),
                                   ((3, 4, 5), (8, 7), (0, 2)), ((3, 4, 5, 2), (5, 4, 6, 7), None), ((2, 3, 4, 5), (6, 5, 9), (0, 3, 1))):
                for name in ("fftn", "ifftn", "irfftn", "hfftn"):
                    check(name, np.asfortranarray(samples(wide, shape)), s, axes, "ortho", False, 2)
                for name in ("rfftn", "ihfftn"):
                    check(name, samples(real, shape)[::-1], s, axes)
        self.assertFalse(ours.fft2(np.zeros((0, 3)), (2, 3)).any())

    def test_errors(self):
        for name in ("fft", "rfft", "dct"):
            for arguments, error in (((np.ones(4), None, 3), IndexError), ((np.ones(0),), ValueError)):
                if name == "dct":
                    arguments = (arguments[0], 2, *arguments[1:])
                with self.assertRaises((error, ValueError), msg=f"{name} {arguments}"):
                    getattr(ours, name)(*arguments)
        with self.assertRaises(ValueError):
            ours.fft(np.ones(4), norm="loud")
        with self.assertRaises(ValueError):
            ours.fftn(np.ones((4, 4)), axes=(0, 0))
        with self.assertRaises(TypeError):
            ours.rfft(np.ones(4, complex))
        with self.assertRaises(ValueError):
            ours.fft(np.array(["a", "b"]))
        with self.assertRaises(ValueError):
            ours.fft(np.ones(4), workers=0)
        with self.assertRaises(ValueError):
            ours.dct(np.ones(1), type=1)
        self.assertEqual(ours.fft(np.ones((0, 4))).shape, (0, 4))

    def test_inputs_stay(self):
        for name in COMPLEX + REAL + TRIGONOMETRIC:
            for dtype in (np.complex128, np.complex64, np.float64, np.float32):
                if np.dtype(dtype).kind == "c" and name in REAL:
                    continue
                for x in (samples(dtype, (6, 10)), samples(dtype, (10, 6)).T, samples(dtype, (12, 20))[::2, ::-2]):
                    before = x.copy()
                    result = getattr(ours, name)(x)
                    np.testing.assert_array_equal(x, before, f"{name} {dtype}")
                    self.assertFalse(np.shares_memory(result, x), name)
        x = samples(np.complex128, (64,))
        x.flags.writeable = False
        np.testing.assert_allclose(ours.fft(x, overwrite_x=True), np.fft.fft(x))
        r = np.arange(1.0, 9.0)
        for n in (5, 8, 11):
            for kind in (1, 2, 3):
                ours.dct(r, type=kind, n=n, norm="ortho")
                np.testing.assert_array_equal(r, np.arange(1.0, 9.0))


class CallsAsScipys(unittest.TestCase):
    """Calls with unusual arguments must return the value of scipy.fft or raise an exception of the same class."""
    a, c, h = np.arange(1.0, 5.0), samples(np.complex128, (4, 6)), samples(np.float16, (3, 4))
    CALLS = """
        irfft(a, n=0)                irfft(a, n=-1)              irfft(a, n=1)               irfft(a[:1])
        hfft(a, n=0)                 hfft(a, n=1)                irfftn(c, s=(0, 0))         irfftn(c, s=(4, 0))
        irfftn(a[:1])                irfftn(c[:, :1])            hfftn(c[:, :1], norm="forward")                  ihfftn(c)
        fft(a, n=0)                  fft(a, axis=3)              fft(a, n=4, axis=3)         fft(a, n=4, axis=-3)
        fft(np.float64(1))           fft(np.array(1.0), n=3)     fftn(np.array(1.0))         rfftn(np.array(1.0))
        irfftn(np.array(1.0))        dct(np.array(1.0))          dctn(np.array(1.0))         fftn(c, s=4)
        fftn(c, s=4.0)               fftn(c, s=(4.0,))           fftn(c, axes=1.0)           fftn(c, axes="a")
        fftn(c, s=(1, 2, 3))         fftn(c, s=(4,), axes=())    fftn(c, axes=())            fftn(a, axes=())
        ifftn(h, axes=())            fftn(c, s=())               rfftn(a, axes=())           irfftn(a, axes=())
        dctn(a, axes=())             idstn(h, axes=())           dctn(c, s=4)                rfftn(a, s=3)
        ifftn(c, s=9)                idctn(c.real, s=3)          fft2(c, s=4)                irfftn(c, s=5)
        fft(a, n=2.5)                fft(a, axis=1.5)            fft(a, axis=None)           fft(a, norm="x")
        fft(a, norm=[])              fft(a, workers=0)           fft(a, workers=1.5)         fft(a, workers=-1000)
        fft(a, workers="a")          fft(a, workers=-1)          fft(a, workers=2)           fft(a, workers=None)
        fft(np.array([1, 2], object))                            fft(["a"])                  fft(["1", "2"])
        fft(None)                    fft([])                     fft(np.ones((0, 4)))        fft(np.ones((4, 0)))
        fftn(np.ones((0, 4)))        fft(np.ones((0, 4)), axis=0)                            dct(np.ones((0, 4)))
        dct(a, type=5)               dct(a, type="2")            dct(a, type=2.0)            dct(a, type=0)
        dst(a[:1], type=1)           rfft(c)                     fft(a, plan=3)              dctn(c, axes=(0, 0))
        fftn(c, axes=(0, 5))         fftn(c, axes=0)             fftn(c, axes=-1)            fftn(c, s=(-1, -1))
        fftn(c, s=(-2, 4))           fftn(c, s=(-1, 3))          fft2(a)                     rfftn(c.real, s=(4, 0))
        fft(True)                    fft("abc")                  fft({1: 2})                 fftn(c, s=[3, 5], axes=[1, 0])
        set_workers(0).__enter__()   set_workers(1.5).__enter__()                            next_fast_len(-1)
        next_fast_len(0)             next_fast_len(2.5)          next_fast_len(1)            next_fast_len(17, True)
        fft(np.ma.masked_array([1, 2.0, 3], [0, 1, 0]))          fft(np.matrix([[1, 2.0, 3]]))
    """
    # Intended differences: the exception that ridge.fft raises, and why.
    OTHERWISE = {
        'fft(np.zeros(3, "M8[s]"))': TypeError,  # SciPy transforms dates as numbers of seconds
        'fft(np.zeros(3, [("a", "f4")]))': TypeError,  # and the fields of structures
        "dct(a[:1], type=1)": ValueError,  # SciPy: RuntimeError, from inside pocketfft
    }

    def outcome(self, module, call):
        names = {name: getattr(module, name) for name in ours.__all__ if hasattr(module, name)}
        try:
            return eval(call, {**names, "np": np, "a": self.a, "c": self.c, "h": self.h})
        except Exception as error:
            return error

    def test_the_same(self):
        calls = re.split(r"\s{2,}", self.CALLS.strip())
        self.assertGreater(len(calls), 90)
        for call in calls:
            want, got = self.outcome(scipy.fft, call), self.outcome(ours, call)
            if isinstance(want, Exception) or isinstance(got, Exception):
                self.assertIs(type(got), type(want), f"{call}: {got!r}, SciPy: {want!r}")
                self.assertTrue(str(got), call)
            else:
                self.assertEqual((np.shape(got), np.asarray(got).dtype), (np.shape(want), np.asarray(want).dtype), call)
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=call)

    def test_the_known_differences(self):
        for call, error in self.OTHERWISE.items():
            self.assertIs(type(self.outcome(ours, call)), error, call)
            self.assertIsNot(type(self.outcome(scipy.fft, call)), error, call)

    def test_no_axes_is_the_array_itself(self):
        for function in (ours.fftn, ours.ifftn, ours.dctn, ours.idstn):
            self.assertIs(function(self.a, axes=()), self.a)

    def test_fast_lengths(self):
        for real in (False, True):
            for n in [*range(2000), 10**6 + 1, 2**31 - 1, 10**12 + 7]:
                self.assertEqual(ours.next_fast_len(n, real), scipy.fft.next_fast_len(n, real), (n, real))

    def test_parts_of_complex_cosines_stay_apart(self):
        x = samples(np.complex128, (8,))
        x.imag[3] = np.inf
        np.testing.assert_allclose(ours.dct(x).real, scipy.fft.dct(x.real), rtol=1e-12)


class Out(unittest.TestCase):
    """`out` has the meaning of NumPy 2: the result is written there and returned; nothing else changes."""

    def test_written_with_the_same_values(self):
        for name in COMPLEX + REAL:
            for dtype in (np.float32, np.float64, np.complex64, np.complex128):
                if np.dtype(dtype).kind == "c" and name in REAL:
                    continue
                one = not name.endswith(("2", "n"))
                for x in (samples(dtype, (6, 5)), samples(dtype, (5, 6)).T, samples(dtype, (12, 5))[::-2]):
                    for how in ({}, {"n": 4}, {"n": 9, "axis": 0}) if one else ({}, {"s": (3, 8), "axes": (0, 1)}):
                        call, before = getattr(ours, name), x.copy()
                        want = call(x, norm="ortho", **how)
                        wide = np.full((want.shape[0] + 2, 2 * want.shape[1] + 1), -7, want.dtype)
                        for out in (np.empty_like(want), np.empty_like(want.T).T, wide[1:-1, 1::2], np.empty(want.shape, want.dtype.char.upper() if want.dtype.kind == "c" else "d")):
                            self.assertIs(call(x, norm="ortho", out=out, **how), out)
                            np.testing.assert_array_equal(out, want, f"{name} {x.strides} {how}")
                        self.assertTrue((wide[0] == -7).all() and (wide[-1] == -7).all() and (wide[:, ::2] == -7).all())
                        np.testing.assert_array_equal(x, before)

    def test_no_copies_where_none_is_needed(self):
        x, out, written = samples(np.complex128, (8, 6)), np.empty((8, 6), complex), []
        real = ours._ridge.transform
        ours._ridge.transform = lambda a, b, *rest: written.append(b) or real(a, b, *rest)
        try:
            ours.fft2(x, out=out)
            ours.fft2(x, out=x)
        finally:
            ours._ridge.transform = real
        self.assertIs(written[0], out)
        self.assertIs(written[1], x)  # in place
        self.assertIs(ours._ridge.quick(0, out, (), {"out": x}), x)
        self.assertIsNone(ours._ridge.quick(0, out, (), {"out": out}))

    def test_parts_of_the_input(self):
        for axis in (0, 1):
            whole = samples(np.complex128, (20, 20))
            for first, n, taken in ((0, 10, 20), (5, 10, 15), (0, 15, 10)):  # cut, another part, padded
                y = whole.copy()
                lines = lambda a, b: (slice(a, b),) if axis == 0 else (slice(None), slice(a, b))  # noqa: E731
                given, out = y[lines(first, first + taken)], y[lines(first, first + n)]
                want = ours.fft(given.copy(), n, axis)
                self.assertIs(ours.fft(given, n, axis, out=out), out)
                np.testing.assert_array_equal(out, want)
                np.testing.assert_array_equal(y[lines(first + n, None)], whole[lines(first + n, None)])
            y = whole.copy()
            np.testing.assert_array_equal(ours.fft(y[:-2], axis=axis, out=y[2:]), ours.fft(whole[:-2], axis=axis))  # overlap
            for out in (lambda y: y, lambda y: y.T, lambda y: y[::-1], lambda y: y[:, ::-1]):
                y = whole.copy()
                np.testing.assert_array_equal(ours.fft(y, axis=axis, out=out(y)), ours.fft(whole, axis=axis))

    def test_wrong_ones(self):
        x = np.arange(30.0)
        locked = np.zeros(30, complex)
        locked.flags.writeable = False
        for out, error, text in (("", TypeError, "must be of ArrayType"), ([0j] * 30, TypeError, "got list"),
                                 (np.zeros((5, 6), complex), ValueError, r"has wrong shape: needs \(30,\), got \(5, 6\)"),
                                 (np.zeros(30), TypeError, "Cannot cast"), (locked, ValueError, "read-only")):
            with self.assertRaisesRegex(error, text):
                ours.fft(x, out=out)
        self.assertFalse(locked.any())
        with self.assertRaisesRegex(TypeError, "out needs a NumPy array"):
            ours.fft(ridge.array(x), out=np.zeros(30, complex))
        with self.assertRaises(TypeError):
            ours.fft(x, None, -1, None, False, None, locked)  # by name only
        into = np.zeros(30, complex)
        self.assertIs(ours.fft(x.view(type("Mine", (np.ndarray,), {})), out=into), into)
        self.assertIs(ours.fft(x.tolist(), out=into), into)
        self.assertIs(ours.fftn(x, axes=(), out=into), into)
        np.testing.assert_array_equal(into, x)


class Workers(unittest.TestCase):
    def setUp(self):
        self.threads, self.real, self.quick = [], ours._ridge.transform, ours._ridge.quick
        ours._ridge.quick = lambda *_: None  # the short path has no threads

        def watched(*arguments):
            self.threads.append(arguments[6])
            return self.real(*arguments)
        ours._ridge.transform = watched

    def tearDown(self):
        ours._ridge.transform, ours._ridge.quick = self.real, self.quick

    def used(self, call):
        self.threads.clear()
        call()
        self.assertEqual(len(self.threads), 1)
        return self.threads[0]

    def test_a_context_in_one_thread(self):
        x = np.ones(8)
        self.assertEqual(ours.get_workers(), 1)
        with ours.set_workers(3):
            self.assertEqual((ours.get_workers(), self.used(lambda: ours.fft(x))), (3, 3))
            self.assertEqual(self.used(lambda: ours.dct(x)), 3)
            self.assertEqual(self.used(lambda: ours.rfft(x, workers=2)), 2)
            seen = []
            thread = threading.Thread(target=lambda: seen.append(ours.get_workers()))
            thread.start()
            thread.join()
            self.assertEqual(seen, [1])  # not of other threads
            with ours.set_workers(-1):
                self.assertEqual(ours.get_workers(), os.cpu_count())
            self.assertEqual(ours.get_workers(), 3)
        with self.assertRaises(KeyError), ours.set_workers(5):
            raise KeyError
        self.assertEqual(ours.get_workers(), 1)
        ours.set_workers(7)  # no effect without `with`, as in SciPy
        self.assertEqual(ours.get_workers(), 1)
        self.assertEqual(self.used(lambda: ours.fft(x, workers=-2)), os.cpu_count() - 1)

    def test_those_of_scipy_reach_the_back_end(self):
        x = np.ones(8)
        with scipy.fft.set_backend(ours), ours.set_workers(6):
            self.assertEqual(self.used(lambda: scipy.fft.fft(x)), 1)
            with scipy.fft.set_workers(4):
                for name in ("fft", "irfft", "dctn", "ifftn"):
                    self.assertEqual(self.used(lambda: getattr(scipy.fft, name)(x)), 4, name)
                self.assertEqual(self.used(lambda: scipy.fft.fft(x, workers=2)), 2)
                self.assertEqual(self.used(lambda: scipy.fft.fft(x, None, -1, None, False, 3)), 3)
                with self.assertRaises(ValueError):
                    scipy.fft.fft(x, n=0)
                self.assertEqual(self.used(lambda: ours.fft(x)), 6)  # a direct call uses ridge's setting


class Plans(unittest.TestCase):
    def test_run_and_refuse(self):
        x = samples(np.complex64, (3, 100))
        plan = ours.plan(x)
        np.testing.assert_allclose(plan(x), np.fft.fft(x), rtol=1e-3, atol=1e-3)
        self.assertIn("lines of 100", plan.explain())
        self.assertIn("<table>", plan._repr_html_())
        for wrong in (x.astype(np.complex128), x[:, :50], x.T, x[::-1]):
            with self.assertRaises(ValueError):
                plan(wrong)
        out = np.empty_like(x)
        out.flags.writeable = False
        with self.assertRaises(ValueError):
            plan(x, out)
        with self.assertRaises(TypeError):
            ours.plan(np.ones(4))

    def test_many_threads(self):
        x = samples(np.complex128, (8, 5000))
        want = np.fft.fft(x)
        wrong = []

        def work():
            for n in range(20):
                if not np.allclose(ours.fft(x), want) or not np.allclose(ours.fft(x[:, : 100 + n]), np.fft.fft(x[:, : 100 + n])):
                    wrong.append(n)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Protocol(unittest.TestCase):
    def test_backend(self):
        calls = []
        real = ours._ridge.transform
        ours._ridge.transform = lambda *a: (calls.append(a[2]), real(*a))[1]
        try:
            with scipy.fft.set_backend(ours):
                np.testing.assert_allclose(scipy.fft.fft([1, 2, 3]), np.fft.fft([1, 2, 3]))
                np.testing.assert_allclose(scipy.fft.dctn(np.ones((3, 4)), norm="ortho"), scipy.fft.dctn(np.ones((3, 4)), norm="ortho"))
                self.assertEqual(scipy.fft.fft(np.ones(4, np.longdouble)).dtype, np.clongdouble)
            before = len(calls)
            self.assertGreaterEqual(before, 2)
            ours.register()
            a, b = samples(np.float64, (300,)), samples(np.float64, (200,))
            np.testing.assert_allclose(scipy.signal.fftconvolve(a, b), np.convolve(a, b), atol=1e-9)
            self.assertGreater(len(calls), before)
        finally:
            ours._ridge.transform = real


    def test_global_backend(self):
        """Runs in its own process, because registration is permanent. SciPy computes what ridge.fft does not support."""
        program = """if True:
            import numpy as np, scipy.fft, ridge.fft
            scipy.fft.set_global_backend(ridge.fft)
            long = scipy.fft.fft(np.ones(4, np.longdouble))
            assert long.dtype == np.clongdouble and (long == [4, 0, 0, 0]).all()
            assert scipy.fft.dctn(np.ones((2, 2), np.longdouble)).dtype == np.longdouble
            assert scipy.fft.fht(np.ones(4), 0.1, 0.5).shape == (4,)
            for function in (scipy.fft.fft, scipy.fft.irfftn):
                try:
                    function(np.ones(4), plan=3)
                except NotImplementedError as error:
                    assert "plan" in str(error)
                else:
                    raise AssertionError("a plan was taken")
            try:
                scipy.fft.fft(np.ones(4), n=0)
            except ValueError:
                print("right")
        """
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(result.stdout, "right\n", result.stderr)


class SixteenBits(unittest.TestCase):
    def test_float16_forward_and_inverse(self):
        x = samples(np.float16, (3, 60)) / 16
        spectrum = ours.plan_float16(60, batch=3, kind="real")(x)
        self.assertEqual((spectrum.shape, spectrum.dtype), ((3, 31, 2), np.dtype(np.float16)))
        want = scipy.fft.rfft(x.astype(np.float64))
        got = spectrum[..., 0].astype(np.float64) + 1j * spectrum[..., 1]
        self.assertLessEqual(np.linalg.norm(got - want), 2.0 ** -11 * np.linalg.norm(want))
        back = ours.plan_float16(60, batch=3, kind="real", inverse=True)(spectrum)
        self.assertLessEqual(np.linalg.norm(back.astype(float) - x), 2.0 ** -10 * np.linalg.norm(x.astype(float)))

    def test_bfloat16_are_bits(self):
        values = np.array([1, 2, 4, 8], np.float32)
        bits = (values.view(np.uint32) >> 16).astype(np.uint16)
        out = ours.plan_float16(4, kind="real", storage="bfloat16")(bits[None])
        self.assertEqual(out[0, 0, 0], np.float32(15).view(np.uint32) >> 16)

    def test_wrong_calls(self):
        plan = ours.plan_float16(8)
        for bad, error in ((np.zeros((1, 8, 2), np.float32), TypeError), (np.zeros((1, 8), np.float16), ValueError)):
            with self.assertRaises(error):
                plan(bad)
        # The plan itself checks sizes: with fewer values it would read and write beyond the arrays.
        good, short = ridge.asarray(np.zeros((1, 8, 2), np.float16)), ridge.asarray(np.zeros((1, 7, 2), np.float16))
        for given, out, named in ((short, good, "input"), (good, short, "output")):
            with self.assertRaisesRegex(ValueError, f"the {named} must have the plan's size of 16 values, got 14"):
                plan._plan.run(given._held, out._held, False)
        for arguments in ({"shape": 0}, {"shape": 8, "storage": "float8"}, {"shape": 8, "kind": "odd"}):
            with self.assertRaises(ValueError):
                ours.plan_float16(**arguments)


if __name__ == "__main__":
    unittest.main()
