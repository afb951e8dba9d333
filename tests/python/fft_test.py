"""ridge.fft against scipy.fft: values, types, shapes, errors, SciPy's protocol. Skipped without NumPy and SciPy."""
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


class AgainstScipy(unittest.TestCase):
    def same(self, name, x, **arguments):
        want = getattr(scipy.fft, name)(x, **arguments)
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
                            if dtype == np.complex128:  # SciPy 1.10 forgets `orthogonalize` where numbers are complex
                                continue
                            self.same(name, x, type=kind, norm=norm, orthogonalize=True)
                            self.same(name, x, type=kind, norm=norm, orthogonalize=False)
                    self.same("dct", x, type=kind, n=9, axis=0)

    def test_lengths_nobody_likes(self):
        for n in (1, 2, 3, 17, 97, 1009, 4096, 10007):
            self.same("fft", samples(np.complex128, (n,)))
            self.same("rfft", samples(np.float32, (n,)))
            self.same("dct", samples(np.float64, (n,)))

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
        with self.assertRaises(TypeError):
            ours.fft(np.array(["a", "b"]))
        with self.assertRaises(ValueError):
            ours.fft(np.ones(4), workers=0)
        with self.assertRaises(ValueError):
            ours.dct(np.ones(1), type=1)
        self.assertEqual(ours.fft(np.ones((0, 4))).shape, (0, 4))

    def test_inputs_stay(self):
        x = samples(np.complex128, (64,))
        before = x.copy()
        ours.fft(x)
        np.testing.assert_array_equal(x, before)
        x.flags.writeable = False
        np.testing.assert_allclose(ours.fft(x, overwrite_x=True), np.fft.fft(x))
        r = np.arange(1.0, 9.0)
        for n in (5, 8, 11):
            for kind in (1, 2, 3):
                ours.dct(r, type=kind, n=n, norm="ortho")
                np.testing.assert_array_equal(r, np.arange(1.0, 9.0))


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


class Halves(unittest.TestCase):
    def test_float16_there_and_back(self):
        x = samples(np.float16, (3, 60)) / 16
        spectrum = ours.plan_halves(60, batch=3, kind="real")(x)
        self.assertEqual((spectrum.shape, spectrum.dtype), ((3, 31, 2), np.dtype(np.float16)))
        want = scipy.fft.rfft(x.astype(np.float64))
        got = spectrum[..., 0].astype(np.float64) + 1j * spectrum[..., 1]
        self.assertLessEqual(np.linalg.norm(got - want), 2.0 ** -11 * np.linalg.norm(want))
        back = ours.plan_halves(60, batch=3, kind="real", inverse=True)(spectrum)
        self.assertLessEqual(np.linalg.norm(back.astype(float) - x), 2.0 ** -10 * np.linalg.norm(x.astype(float)))

    def test_bfloat16_are_bits(self):
        values = np.array([1, 2, 4, 8], np.float32)
        bits = (values.view(np.uint32) >> 16).astype(np.uint16)
        out = ours.plan_halves(4, kind="real", storage="bfloat16")(bits[None])
        self.assertEqual(out[0, 0, 0], np.float32(15).view(np.uint32) >> 16)

    def test_wrong_calls(self):
        plan = ours.plan_halves(8)
        for bad, error in ((np.zeros((1, 8, 2), np.float32), TypeError), (np.zeros((1, 8), np.float16), ValueError)):
            with self.assertRaises(error):
                plan(bad)
        for arguments in ({"shape": 0}, {"shape": 8, "storage": "float8"}, {"shape": 8, "kind": "odd"}):
            with self.assertRaises(ValueError):
                ours.plan_halves(**arguments)


if __name__ == "__main__":
    unittest.main()
