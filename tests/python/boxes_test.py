"""Compares columns and real boxes of ridge.fft with whole transforms in long double, on every device."""
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import fft

random = np.random.default_rng(11)
DEVICES = ["host"] + [d["id"] for d in ridge.devices() if not d["id"].startswith("host")]
PRECISIONS = (("complex128", 1e-15), ("complex64", 6e-7))


def complexes(*shape):
    return random.standard_normal(shape) + 1j * random.standard_normal(shape)


def whole(x, sign):
    """The transform of all axes as products with matrices of long doubles."""
    x = x.astype(np.clongdouble)
    for axis, n in enumerate(x.shape):
        turns = (np.outer(np.arange(n), np.arange(n)) % n).astype(np.longdouble) / n
        angle = sign * 2 * np.arccos(np.longdouble(-1)) * turns
        x = np.moveaxis(np.tensordot(np.cos(angle) + 1j * np.sin(angle), x, (1, axis)), 0, axis)
    return x


def error(got, want):
    return float(np.linalg.norm((got - want).ravel()) / np.linalg.norm(want.ravel()))


# Silicon in a face-centred cubic cell as in Quantum ESPRESSO's examples: wave functions within a cutoff in Rydberg, a of 10.2 bohr.
BASIS = np.array([[-1, -1, 1], [1, 1, 1], [-1, 1, -1]], float)
SHAPE = (20, 18, 25)


def sphere(cutoff_rydberg=24.0):
    return fft.sphere_columns(SHAPE, BASIS, np.sqrt(cutoff_rydberg) * 10.2 / (2 * np.pi))


class Filters(unittest.TestCase):
    def test_equal_padded_convolutions(self):
        for device in DEVICES:
            for dtype, gate in PRECISIONS:
                for shape, box in (((9,), [(7, 5)]), ((6, 10), [3, (8, 4)]), ((4, 6, 5), [2, None, 3])):
                    spectrum = complexes(*shape).astype(dtype)
                    ranges = [(0, n) if b is None else b if isinstance(b, tuple) else (0, b) for b, n in zip(box, shape)]
                    places = np.ix_(*((first + np.arange(count)) % n for (first, count), n in zip(ranges, shape)))
                    samples = complexes(*(count for _, count in ranges)).astype(dtype)
                    padded = np.zeros(shape, dtype)
                    padded[places] = samples
                    want = whole(whole(padded, -1) * spectrum, +1)[places] / spectrum.size
                    made = fft.BoxFilter(spectrum, box, device=device)
                    self.assertEqual(made.shape, samples.shape)
                    self.assertLessEqual(error(made(samples), want), 3 * gate, made.explain())
                    made(samples, out=samples)
                    self.assertLessEqual(error(samples, want), 3 * gate)

    def test_mistakes(self):
        for spectrum, box in ((np.ones((2, 2, 2, 2)), None), (np.ones(0), None), (np.ones(4), [5]), (np.ones(4), [2, 2])):
            with self.assertRaises(ValueError):
                fft.BoxFilter(spectrum, box)
        with self.assertRaises(ValueError):
            fft.BoxFilter(np.ones(4), [2])(np.ones(3))


class Columns(unittest.TestCase):
    def test_the_sphere_has_all_modes_within_the_cutoff(self):
        cutoff = np.sqrt(24.0) * 10.2 / (2 * np.pi)
        k = np.meshgrid(*(np.fft.fftfreq(n, 1 / n) for n in SHAPE), indexing="ij")
        inside = np.linalg.norm(np.einsum("iabc,ij->jabc", np.array(k), BASIS), axis=0) <= cutoff
        found = np.zeros(SHAPE, int)
        np.add.at(found, fft.Columns(SHAPE, sphere()).indices(), 1)
        np.testing.assert_array_equal(found, inside)
        self.assertGreater(inside.sum(), 500)

    def test_a_local_potential_acts_on_a_wave_function(self):
        columns = sphere()
        potential = random.standard_normal(SHAPE)
        for device in DEVICES:
            for dtype, gate in PRECISIONS:
                wave = fft.Columns(SHAPE, columns, dtype, norm="forward", device=device)
                modes = complexes(wave.size).astype(dtype)
                stored = np.zeros(SHAPE, np.clongdouble)
                stored[wave.indices()] = modes
                field = whole(stored, +1)
                want = whole(field * potential, -1)[wave.indices()] / field.size
                got = wave.inverse(modes)
                self.assertLessEqual(error(got, field), gate, device)
                self.assertLessEqual(error(wave.forward((got * potential).astype(dtype)), want), 2 * gate, device)
                self.assertLess(wave.share, 0.8)

    def test_any_list_of_columns(self):
        lists = [((1, 1, 1), [[0, 0, 0, 1]]), ((2, 3, 7), [[1, 2, 5, 4], [0, 2, 0, 7], [1, 0, 3, 0]]),
                 ((5, 1, 6), [[4, 0, 5, 3], [0, 0, 0, 1]]), ((3, 11, 4), [[1, 10, 2, 2], [1, 0, 0, 4], [1, 1, 3, 3]]),
                 ((37, 41, 1), [[0, 40, 0, 1], [36, 3, 0, 1]])]
        for device in DEVICES:
            for shape, columns in lists if device == "host" else lists[1:3]:  # each plan compiles kernels
                for dtype, gate in PRECISIONS:
                    plan = fft.Columns(shape, columns, dtype, norm="backward", device=device)
                    samples, modes = complexes(*shape).astype(dtype), complexes(plan.size).astype(dtype)
                    stored = np.zeros(shape, np.clongdouble)
                    stored[plan.indices()] = modes
                    out = np.full(plan.size, np.nan, dtype)
                    self.assertIs(plan.forward(samples, out), out)
                    self.assertLessEqual(error(out, whole(samples, -1)[plan.indices()]), gate, (device, shape))
                    self.assertLessEqual(error(plan.inverse(modes), whole(stored, +1) / stored.size), gate, (device, shape))

    def test_half_of_the_modes_of_real_samples(self):
        columns = fft.sphere_columns(SHAPE, BASIS, np.sqrt(24.0) * 10.2 / (2 * np.pi), real=True)
        potential = random.standard_normal(SHAPE)
        for device in DEVICES:
            for dtype, gate in (("float64", 1e-15), ("float32", 6e-7)):
                wave = fft.Columns(SHAPE, columns, dtype, norm="forward", device=device)
                self.assertEqual(2 * wave.size - 1, fft.Columns(SHAPE, sphere()).size)
                modes = complexes(wave.size).astype(wave.spectrum_dtype)
                stored = np.zeros(SHAPE, np.clongdouble)
                stored[wave.indices()] = modes
                stored[0, 0, 0] = modes[0].real / 2
                field = 2 * whole(stored, +1).real
                want = whole((field * potential).astype(np.clongdouble), -1)[wave.indices()] / field.size
                got = wave.inverse(modes)
                self.assertEqual(got.dtype, np.dtype(dtype))
                self.assertLessEqual(error(got, field), gate, device)
                self.assertLessEqual(error(wave.forward((got * potential).astype(dtype)), want), 2 * gate, device)
                back = wave.adjoint().inverse(modes)
                self.assertAlmostEqual(np.vdot(modes, wave.forward(got)).real, np.vdot(back, got), delta=1e-4 * abs(np.vdot(back, got)))

    def test_adjoints(self):
        for device in DEVICES:
            plan = fft.Columns((6, 5, 9), [[5, 1, 7, 4], [0, 0, 2, 3], [2, 4, 0, 9]], norm="ortho", device=device)
            plan = fft.Columns((6, 5, 9), plan.columns, norm=None, device=device)
            x, g = complexes(6, 5, 9), complexes(plan.size)
            self.assertAlmostEqual(np.vdot(g, plan.forward(x)), np.vdot(plan.adjoint().inverse(g), x), places=10)
            self.assertAlmostEqual(np.vdot(x, plan.inverse(g)), np.vdot(plan.adjoint().forward(x), g), places=10)

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, r"rows of four integers \(x, y, first, count\)"):
            fft.Columns((4, 4, 4), [[1, 2, 3]])
        with self.assertRaisesRegex(ValueError, "needs three axes of at least one point, got 2 axes"):
            fft.Columns((4, 4), [[0, 0, 0, 1]])
        with self.assertRaisesRegex(ValueError, "in the list twice"):
            fft.Columns((4, 4, 4), [[1, 2, 0, 1], [1, 2, 3, 1]])
        with self.assertRaisesRegex(TypeError, "dtype must be .*complex64"):
            fft.Columns((4, 4, 4), [[1, 2, 0, 1]], int)
        with self.assertRaisesRegex(ValueError, r"columns \(1, 2\) and \(3, 2\) hold conjugate modes of a real grid"):
            fft.Columns((4, 4, 4), [[1, 2, 0, 1], [3, 2, 3, 1]], float)
        with self.assertRaisesRegex(TypeError, "the samples must be real, got complex128"):
            fft.Columns((4, 4, 4), [[1, 2, 0, 1]], float).forward(np.ones((4, 4, 4), complex))
        with self.assertRaisesRegex(ValueError, "outside axis 0 of 8 points: use a longer axis"):
            fft.sphere_columns((8, 8, 8), np.eye(3), 4)
        plan = fft.Columns((4, 4, 4), [[1, 2, 0, 3]])
        with self.assertRaisesRegex(ValueError, r"the modes must have the shape \(3,\), got \(4,\)"):
            plan.inverse(np.ones(4))
        with self.assertRaisesRegex(ValueError, r"out must have the shape \(3,\)"):
            plan.forward(np.ones((4, 4, 4)), np.ones(4, complex))


class Boxes(unittest.TestCase):
    CASES = [((24,), [(0, 7)], [(20, 9)]), ((15, 14), [(3, 8), (10, 6)], [(0, 15), (0, 5)]), ((14, 15), None, [(2, 3), (0, 8)]),
             ((6, 9, 10), [2, (8, 3), (0, 10)], [(5, 2), None, (1, 4)])]

    def check(self, device, shape, given, wanted, dtype, gate, batch):
        real = np.dtype(dtype).kind == "f"
        plan = fft.Boxes(shape, given, wanted, dtype, batch=batch, norm="ortho", device=device)
        half = (*shape[:-1], shape[-1] // 2 + 1) if real else shape

        def places(box, lengths):
            pairs = [(0, n) if b is None else (0, b) if np.ndim(b) == 0 else b for b, n in zip(box or [None] * len(lengths), lengths)]
            return np.ix_(*((first + np.arange(count)) % n for (first, count), n in zip(pairs, lengths)))
        inside, taken, root = places(given, shape), places(wanted, half), np.sqrt(np.longdouble(np.prod(shape)))
        x, y = complexes(*plan.given_shape).astype(plan.spectrum_dtype), complexes(*plan.wanted_shape).astype(plan.spectrum_dtype)
        x = x.real.astype(dtype) if real else x
        out = np.full(plan.wanted_shape, np.nan, plan.spectrum_dtype)
        self.assertIs(plan.forward(x, out), out)
        for got, one in zip(out.reshape(-1, *plan.wanted_shape[-len(shape):]), x.reshape(-1, *plan.given_shape[-len(shape):])):
            stored = np.zeros(shape, np.clongdouble)
            stored[inside] = one
            self.assertLessEqual(error(got, whole(stored, -1)[taken] / root), gate, (device, shape, dtype))
        back = plan.inverse(y)
        self.assertEqual((back.dtype, back.shape), (np.dtype(dtype), plan.given_shape))
        for got, one in zip(back.reshape(-1, *plan.given_shape[-len(shape):]), y.reshape(-1, *plan.wanted_shape[-len(shape):])):
            stored = np.zeros(half, np.clongdouble)
            stored[taken] = one
            if real:
                want = np.fft.irfftn(stored.astype(complex), shape, norm="ortho")
            else:
                want = whole(stored, +1) / root
            self.assertLessEqual(error(got, want[inside]), 4 * gate, (device, shape, dtype))
        adjoint = plan.adjoint()
        for left, right in ((np.vdot(y, plan.forward(x)), np.vdot(adjoint.inverse(y), x)), (np.vdot(x, plan.inverse(y)), np.vdot(adjoint.forward(x), y))):
            self.assertLessEqual(abs((left - right).real), 1e3 * gate * max(1, abs(left)))

    def test_values_and_adjoints(self):
        for device in DEVICES:
            for i, case in enumerate(self.CASES):
                for dtype, gate in (("complex128", 1e-15), ("complex64", 6e-7), ("float64", 1e-15), ("float32", 6e-7)):
                    if dtype.startswith("float") and case[2][-1] == (20, 9) or device != "host" and (i != 1 or dtype.endswith(("128", "64")) and dtype != "complex64"):
                        continue
                    self.check(device, *case, dtype, gate, (None, 3)[i % 2])

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "the box given .*axis 1"):
            fft.Boxes((8, 8), [None, (0, 9)])
        with self.assertRaisesRegex(ValueError, "given needs one range per axis, 2, got 1"):
            fft.Boxes((8, 8), [4])
        with self.assertRaisesRegex(TypeError, "dtype must be"):
            fft.Boxes((8, 8), dtype=int)
        with self.assertRaisesRegex(TypeError, "the samples must be real"):
            fft.Boxes((8,), [4], dtype=float).forward(np.ones(4, complex))
        with self.assertRaisesRegex(ValueError, r"the samples must have the shape \(2, 4\)"):
            fft.Boxes((8,), [4], batch=2).forward(np.ones(4))
        with self.assertRaisesRegex(ValueError, "at least one point"):
            fft.Boxes((8, 0))


def matrix(kind, n):
    """The whole transform of n points as a matrix of long doubles, by FFTW's definition."""
    j, k = np.arange(n, dtype=np.longdouble), np.arange(n, dtype=np.longdouble)[:, None]
    pi = np.arccos(np.longdouble(-1))
    if kind == "hartley":
        return np.cos(2 * pi * j * k / n) + np.sin(2 * pi * j * k / n)
    if kind == "dct1":
        a = 2 * np.cos(pi * j * k / (n - 1))
        a[:, 0], a[:, -1] = a[:, 0] / 2, a[:, -1] / 2
        return a
    shift = {"2": (0.5, 0), "3": (0, 0.5), "4": (0.5, 0.5), "1": (1, 1)}[kind[-1]]
    if kind.startswith("dct"):
        a = 2 * np.cos(pi * (j + shift[0]) * (k + shift[1]) / n)
        if kind == "dct3":
            a[:, 0] /= 2
        return a
    if kind == "dst1":
        return 2 * np.sin(pi * (j + 1) * (k + 1) / (n + 1))
    a = 2 * np.sin(pi * (j + (0.5 if kind in ("dst2", "dst4") else 1)) * (k + (0.5 if kind in ("dst3", "dst4") else 1)) / n)
    if kind == "dst3":
        a[:, -1] /= 2
    return a


def boxed(shape, kinds, given, wanted):
    """The matrix of a transform of boxes, from packed samples to packed values."""
    parts = []
    for n, kind, g, w in zip(shape, kinds, given, wanted):
        parts.append(matrix(kind, n)[np.ix_((w[0] + np.arange(w[1])) % n, (g[0] + np.arange(g[1])) % n)])
    out = np.ones((1, 1), np.longdouble)
    for part in parts:
        out = np.kron(out, part)
    return out


class RealBoxes(unittest.TestCase):
    CASES = [((24,), ("dct2",), [(0, 7)], [(5, 9)]),
             ((16, 21), ("dct1", "dst2"), [(3, 8), (15, 10)], [(0, 16), (0, 11)]),
             ((5, 30, 7), ("dct4", "dct3", "hartley"), [(0, 5), (0, 10), (5, 4)], [(4, 3), (29, 30), (2, 3)]),
             ((4, 3, 5, 6), ("dst1", "dst3", "dst4", "dct2"), [(1, 2), (2, 3), (3, 4), (4, 5)], [(0, 4), (0, 1), (0, 5), (0, 2)])]

    def test_values_and_transposes(self):
        for device in DEVICES:
            for shape, kinds, given, wanted in self.CASES if device == "host" else self.CASES[1:2]:
                a = boxed(shape, kinds, given, wanted)
                for dtype, gate in (("float64", 2e-15), ("float32", 1e-6)):
                    plan = fft.RealBoxes(shape, kinds, given, wanted, dtype, scale=0.25, device=device)
                    x = random.standard_normal(plan.input_shape).astype(dtype)
                    g = random.standard_normal(plan.output_shape).astype(dtype)
                    out = np.full(plan.output_shape, np.nan, dtype)
                    self.assertLessEqual(error(plan(x, out).ravel(), 0.25 * a @ x.ravel()), gate, (device, kinds, dtype))
                    back = plan.adjoint()
                    self.assertEqual(back.output_shape, plan.input_shape)
                    self.assertLessEqual(error(back(g).ravel(), 0.25 * a.T @ g.ravel()), gate, (device, kinds, dtype))

    def test_long_lines(self):
        plan = fft.RealBoxes((6, 4099), ("dct2", "dct2"), (3, (4000, 200)), (None, 700))
        x = random.standard_normal((3, 200))
        stored = np.zeros((6, 4099))
        stored[:3, (4000 + np.arange(200)) % 4099] = x
        self.assertLessEqual(error(plan(x), fft.dctn(stored)[:, :700]), 1e-14)

    def test_lines_of_zeros_are_skipped(self):
        self.assertEqual(fft.RealBoxes((64, 64), ("dct2", "dct2"), (32, 32)).share, 0.75)

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "a kind must be one of .*dct1.*got 'dct5'"):
            fft.RealBoxes((8,), "dct5")
        with self.assertRaisesRegex(ValueError, "the box given needs 1 to 8 points from 0 to 7 on axis 0, got 9 from 0"):
            fft.RealBoxes((8,), "dct2", [9])
        with self.assertRaisesRegex(ValueError, "wanted needs one range per axis, 1, got 2"):
            fft.RealBoxes((8,), "dct2", None, [2, 2])
        with self.assertRaisesRegex(TypeError, "the samples must be real"):
            fft.RealBoxes((8,), "dct2")(np.ones(8, complex))


if __name__ == "__main__":
    unittest.main()
