"""Compares ridge.nufft with direct sums in NumPy; gradients with differences; wrong input raises an exception."""
import sys
import unittest
import warnings

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import nufft

random = np.random.default_rng(5)
SHAPES = {1: (31,), 2: (10, 13), 3: (5, 6, 7)}


def frequencies(n):
    return np.arange(-(n // 2), (n + 1) // 2)


def phases(points, modes, sign):
    """Phases of shape modes + (points,)."""
    total = np.zeros(modes + (len(points[0]),))
    for axis, n in enumerate(modes):
        k = frequencies(n).reshape((-1,) + (1,) * (len(modes) - axis))
        total = total + k * points[axis]
    return np.exp(1j * sign * total)


def complexes(*shape):
    return random.standard_normal(shape) + 1j * random.standard_normal(shape)


def error(got, want):
    return np.linalg.norm(got - want) / np.linalg.norm(want)


class Functions(unittest.TestCase):
    def test_types_1_and_2(self):
        for axes, modes in SHAPES.items():
            points = tuple(random.uniform(-np.pi, np.pi, 50) for _ in range(axes))
            c, f = complexes(50), complexes(*modes)
            to_modes, to_points = getattr(nufft, f"nufft{axes}d1"), getattr(nufft, f"nufft{axes}d2")
            for sign in (1, -1):
                a = phases(points, modes, sign)
                got = to_modes(*points, c, modes, eps=1e-9, isign=sign)
                self.assertLessEqual(error(got, a @ c), 1e-9)
                got = to_points(*points, f, eps=1e-9, isign=sign)
                self.assertLessEqual(error(got, np.tensordot(f, a, axes)), 1e-9)
            out = np.empty((2,) + modes, np.complex128)
            both = to_modes(*points, np.stack([c, 2 * c]), out=out, eps=1e-6)
            self.assertIs(both, out)
            self.assertLessEqual(error(both[1], 2 * phases(points, modes, 1) @ c), 1e-6)
            single = to_modes(*(p.astype(np.float32) for p in points), c.astype(np.complex64), modes, eps=1e-4, modeord=1)
            self.assertEqual(single.dtype, np.complex64)
            self.assertLessEqual(error(np.fft.fftshift(single), phases(points, modes, 1) @ c), 1e-4)

    def test_real_strengths_and_values(self):
        for modes in ((31,), (12, 9), (6, 5, 8)):
            points = [random.uniform(-3, 3, 70) for _ in modes]
            c, f = random.standard_normal(70), complexes(*modes)
            axes = len(modes)
            got = getattr(nufft, f"nufft{axes}d1")(*points, c, modes, eps=1e-9)
            self.assertLessEqual(error(got, phases(points, modes, 1) @ c), 1e-9)
            values = getattr(nufft, f"nufft{axes}d2")(*points, f, eps=1e-9, real=True)
            self.assertEqual(values.dtype, np.float64)
            self.assertLessEqual(error(values, np.tensordot(f, phases(points, modes, -1), axes).real), 1e-9)
        with self.assertRaisesRegex(TypeError, "must be real in a plan with real=True, got complex128"):
            nufft.nufft1d1(points[0], c * 1j, 4, real=True)

    def test_type_3(self):
        for axes in SHAPES:
            points = tuple(random.uniform(-1, 2, 40) for _ in range(axes))
            targets = tuple(random.uniform(-20, 9, 30) for _ in range(axes))
            a = np.exp(-1j * sum(np.outer(s, x) for s, x in zip(targets, points)))
            c = complexes(2, 40)
            got = getattr(nufft, f"nufft{axes}d3")(*points, c, *targets, eps=1e-8, isign=-1)
            self.assertLessEqual(error(got, c @ a.T), 1e-8)

    def test_one_set_with_an_axis_of_its_own(self):
        x, c = random.uniform(-3, 3, 9), complexes(1, 9)
        self.assertEqual(nufft.nufft1d1(x, c, 6).shape, (1, 6))


class Plans(unittest.TestCase):
    def test_runs_adjoints_and_new_points(self):
        plan = nufft.Plan(2, (9, 8), n_trans=2, eps=1e-7)
        f = complexes(2, 9, 8)
        for count in (20, 5):
            points = random.uniform(-np.pi, np.pi, (2, count))
            plan.setpts(*points)
            a = phases(points, (9, 8), -1)
            self.assertLessEqual(error(plan.execute(f), np.tensordot(f, a, 2)), 1e-7)
            g = complexes(2, count)
            self.assertLessEqual(error(plan.execute_adjoint(g), np.einsum("sj,abj->sab", g, a.conj())), 1e-7)
        self.assertIn("tiles", plan.explain())
        self.assertEqual(plan.device, "host")

    def test_gradients_are_differences(self):
        for kind in (1, 2):
            for sets in (1, 2):
                plan = nufft.Plan(kind, (7, 6), n_trans=sets, eps=1e-11)
                points = random.uniform(-np.pi, np.pi, (2, 12))
                shapes = ((sets, 12), (sets, 7, 6))
                data, weights = complexes(*shapes[kind - 1]), complexes(*shapes[2 - kind])

                def loss(at, given):
                    plan.setpts(*at)
                    return np.sum(np.abs(plan.execute(given) - weights) ** 2) / 2

                plan.setpts(*points)
                by_data, by_points = plan.gradients(data, plan.execute(data) - weights)
                step, change, moved = 1e-5, complexes(*data.shape), random.standard_normal((2, 12))
                slope = (loss(points, data + step * change) - loss(points, data - step * change)) / (2 * step)
                self.assertAlmostEqual(np.real(np.vdot(by_data, change)) / slope, 1, places=6)
                slope = (loss(points + step * moved, data) - loss(points - step * moved, data)) / (2 * step)
                self.assertAlmostEqual(np.sum(by_points * moved) / slope, 1, places=5)

    def test_normal_operator(self):
        points, weights, f = random.uniform(-np.pi, np.pi, (2, 60)), random.uniform(1, 2, 60), complexes(9, 6)
        for sign in (1, -1):
            a = phases(points, (9, 6), sign)
            want = np.tensordot(a.conj(), weights * np.tensordot(f, a, 2), 1)
            self.assertLessEqual(error(nufft.Normal((9, 6), points, weights, eps=1e-9, isign=sign)(f), want), 1e-9)
        self.assertLessEqual(error(nufft.Normal((9, 6), points, weights, eps=1e-9)(f), want), 1e-9)

    def test_type_3_and_the_normal_operator_on_opencl(self):
        if "opencl:0" not in [device["id"] for device in ridge.devices()]:
            self.skipTest("no OpenCL device")
        x, s, c = random.uniform(-40, 40, 50), random.uniform(-9, 9, 30), complexes(50).astype(np.complex64)
        x, s = x.astype(np.float32), s.astype(np.float32)
        want = np.exp(1j * np.outer(s.astype(float), x.astype(float))) @ c
        self.assertLessEqual(error(nufft.nufft1d3(x, c, s, eps=1e-5, device="opencl:0"), want), 1e-5)
        points, f = random.uniform(-np.pi, np.pi, (2, 60)), complexes(9, 6).astype(np.complex64)
        points = points.astype(np.float32)
        a = phases(points.astype(float), (9, 6), -1)
        want = np.tensordot(a.conj(), np.tensordot(f, a, 2), 1)
        normal = nufft.Normal((9, 6), points, eps=1e-5, dtype="complex64", device="opencl:0")
        self.assertLessEqual(error(normal(f), want), 2e-5)

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "nufft_type must be 1, 2 or 3, got 4"):
            nufft.Plan(4, 8)
        with self.assertRaisesRegex(TypeError, "complex64 or complex128, got int32"):
            nufft.Plan(1, 8, dtype=np.int32)
        with self.assertRaisesRegex(ValueError, "epsilon"):
            nufft.Plan(1, 8, eps=1e-9, dtype="complex64")
        plan = nufft.Plan(1, (8, 8))
        for run in (plan.execute, plan.execute_adjoint, plan.slopes):  # before setpts()
            with self.assertRaisesRegex(nufft.NufftError, r"no points: call setpts\(\) first"):
                run(np.ones(3))
        plan.setpts([], [])
        np.testing.assert_array_equal(plan.execute([]), np.zeros((8, 8)))
        self.assertEqual(plan.execute_adjoint(np.ones((8, 8))).shape, (0,))
        self.assertEqual([x.shape for x in plan.slopes(np.ones((8, 8)))], [(0,), (2, 0)])
        with self.assertRaisesRegex(ValueError, "coordinates"):
            plan.setpts([1.0, 2.0])
        with self.assertRaisesRegex(ValueError, "nan"):
            plan.setpts([1.0], [np.nan])
        plan.setpts([1.0], [2.0])
        with self.assertRaisesRegex(ValueError, r"the input must have the shape \(1,\), got \(2,\)"):
            plan.execute([1, 2])
        with self.assertRaisesRegex(ValueError, "the output must have the shape"):
            plan.execute([1], np.empty((8, 9), np.complex128))
        with self.assertRaisesRegex(ValueError, "type 1 needs n_modes or out"):
            nufft.nufft1d1([1.0], [1.0])


class AsFinufft(unittest.TestCase):
    """What programs written for FINUFFT use: names, argument order, defaults, options, outputs, classes of errors."""

    def test_every_type_precision_and_output(self):
        for axes, modes in SHAPES.items():
            for dtype, real, eps in ((np.complex64, np.float32, 1e-5), (np.complex128, np.float64, 1e-9)):
                for sets in ((), (1,), (3,)):
                    points = random.uniform(-4, 4, (axes, 30)).astype(real)
                    targets = random.uniform(-9, 20, (axes, 25)).astype(real)
                    c, f = complexes(*sets, 30).astype(dtype), complexes(*sets, *modes).astype(dtype)
                    up, down = phases(points.astype(float), modes, 1), phases(points.astype(float), modes, -1)
                    to_targets = np.exp(1j * np.einsum("ak,aj->kj", targets.astype(float), points.astype(float)))
                    wanted = {1: np.tensordot(c, up, (-1, -1)), 2: np.tensordot(f, down, axes), 3: c @ to_targets.T}
                    for kind, want in wanted.items():
                        with self.subTest(axes=axes, dtype=dtype, sets=sets, kind=kind):
                            run = getattr(nufft, f"nufft{axes}d{kind}")
                            arguments = {1: (*points, c, modes), 2: (*points, f), 3: (*points, c, *targets)}[kind]
                            got = run(*arguments, eps=eps)
                            self.assertEqual((got.dtype, got.shape), (dtype, want.shape))
                            self.assertLessEqual(error(got, want), eps)
                            out = np.full(want.shape, np.nan, dtype)
                            self.assertIs(run(*arguments, out, eps), out)    # out and eps by position
                            self.assertLessEqual(error(out, want), eps)

    def test_a_single_set_may_have_an_axis_in_the_output_only(self):
        plan = nufft.Plan(1, (6,))
        plan.setpts(random.uniform(-3, 3, 9))
        c = complexes(9)
        self.assertLessEqual(error(plan.execute(c, np.empty((1, 6), complex))[0], plan.execute(c)), 1e-15)

    def test_properties_cannot_be_set(self):
        plan = nufft.Plan(2, (8, 9), 2, dtype=np.complex64)
        self.assertEqual((plan.type, plan.n_modes, plan.dim, plan.n_trans, plan.dtype), (2, (8, 9), 2, 2, np.complex64))
        for name in ("type", "n_modes", "dim", "n_trans", "dtype"):
            with self.assertRaises(AttributeError):
                setattr(plan, name, 1)
        self.assertEqual(nufft.Plan(3, 3).dim, 3)

    def test_options(self):
        x, c = random.uniform(-3, 3, 40), complexes(40)
        want = phases((x,), (20,), 1) @ c
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for options in ({"debug": 0, "spread_sort": 2, "fftw": 64, "spread_kerevalmeth": 1, "maxbatchsize": 1}, {"upsampfac": 1.25},
                            {"upsampfac": 1.9}, {"upsampfac": 3.0}, {"nthreads": 1}, {"spreadinterponly": 0}, {"modeord": 0}):
                self.assertLessEqual(error(nufft.nufft1d1(x, c, 20, eps=1e-6, **options), want), 1e-6, options)
        with self.assertWarnsRegex(UserWarning, 'no option "speed": it is ignored'):
            nufft.nufft1d1(x, c, 20, speed=1)
        with self.assertRaisesRegex(RuntimeError, "upsampfac must be above 1, or 0"):
            nufft.Plan(1, 20, upsampfac=1.0)
        with self.assertRaisesRegex(RuntimeError, "spreadinterponly is not supported"):
            nufft.Plan(1, 20, spreadinterponly=1)

    def test_tolerances_that_a_type_does_not_have(self):
        x, c = random.uniform(-3, 3, 40), complexes(40)
        want = phases((x,), (20,), 1) @ c
        with self.assertRaisesRegex(RuntimeError, "ask for"):
            nufft.nufft1d1(x, c, 20, eps=1e-16)
        self.assertLessEqual(error(nufft.nufft1d1(x, c, 20, eps=1e-16, allow_eps_too_small=1), want), 1e-14)
        self.assertLessEqual(error(nufft.nufft1d3(x, c, np.arange(20.0) - 10, eps=0, allow_eps_too_small=1), want), 1e-13)
        self.assertLessEqual(error(nufft.nufft1d1(x, c, 20, eps=0.5), want), 0.1)
        for eps in (np.nan, np.inf, -1):
            with self.assertRaises(RuntimeError):
                nufft.nufft1d1(x, c, 20, eps=eps, allow_eps_too_small=1)

    def test_points_outside_the_period(self):
        x, c = random.uniform(-30, 30, 40), complexes(40)
        self.assertLessEqual(error(nufft.nufft1d1(x, c, 20, eps=1e-9), phases((x,), (20,), 1) @ c), 1e-9)
        with self.assertRaisesRegex(RuntimeError, "at most 3.14 radians"):
            nufft.nufft1d1(x, c, 20, fold=False)

    def test_errors_are_those_of_finufft_too(self):
        x, c = np.zeros(3), np.zeros(3, complex)
        plan = nufft.Plan(2, (8, 9), 2, dtype="complex64")
        plan.setpts(*np.ones((2, 3), np.float32))
        f = np.ones((2, 8, 9), np.complex64)
        for kind, call in (
                (RuntimeError, lambda: nufft.Plan(1, (8, 8), dtype="uint32")), (RuntimeError, lambda: nufft.Plan(4, 8)),
                (RuntimeError, lambda: nufft.Plan(3, (1, 2))), (RuntimeError, lambda: nufft.Plan(2, (1, 2, 3, 4))),
                (TypeError, lambda: plan.setpts(np.ones(1, complex), np.ones(1))), (RuntimeError, lambda: plan.setpts([[1.0]], [1.0])),
                (RuntimeError, lambda: plan.setpts([1.0, 2.0], [1.0])), (RuntimeError, lambda: plan.execute(f[0])),
                (TypeError, lambda: plan.execute(f, np.ones((2, 3)))), (RuntimeError, lambda: plan.execute(f, np.ones((2, 4), "c8"))),
                (TypeError, lambda: plan.execute(f, np.ones((2, 3), "c8", order="F"))),
                (RuntimeError, lambda: nufft.nufft1d1(x, c)), (RuntimeError, lambda: nufft.nufft1d1(x, c, (2, 2))),
                (RuntimeError, lambda: nufft.nufft1d1(x, c, (2.5,))), (RuntimeError, lambda: nufft.nufft1d1(x, c, "")),
                (RuntimeError, lambda: nufft.nufft1d1(x, c, 4, out=np.ones(3, complex))),
                (RuntimeError, lambda: nufft.nufft1d2(x, np.zeros((2, 2, 2), complex)))):
            with self.assertRaises(kind) as caught:
                call()
            self.assertIsInstance(caught.exception, nufft.NufftError)


class Elsewhere:
    """An array of a library that is not NumPy."""

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return getattr(self.x, name)


class Backend:
    """NumPy arrays in the place of CUDA arrays, used by their addresses on the host."""

    def dtype(self, x):
        return x.dtype.name

    def converted(self, x, name):
        return np.asarray(getattr(x, "x", x)).astype(name)

    def packed(self, x, order):
        return np.ascontiguousarray(x.transpose(order))

    def empty(self, shape, name, like):
        return np.full(shape, np.nan, name)

    def address(self, x):
        return x.ctypes.data

    def device(self, x):
        return "host"

    def stream(self, x):
        return 0

    def on_host(self, x):
        return x


class ByAddress(unittest.TestCase):
    """The path of CUDA arrays, by addresses of host memory."""

    def setUp(self):
        from unittest import mock
        for patch in (mock.patch.dict(nufft._BACKENDS, {"elsewhere": Backend}),
                      mock.patch.object(nufft, "library_of", lambda x: "elsewhere" if isinstance(x, Elsewhere) else "numpy")):
            patch.start()
            self.addCleanup(patch.stop)

    def test_every_type(self):
        for axes, modes in SHAPES.items():
            for dtype, real, eps in ((np.complex64, np.float32, 1e-5), (np.complex128, np.float64, 1e-9)):
                for sets in ((), (3,)):
                    points = random.uniform(-4, 4, (axes, 30)).astype(real)
                    targets = random.uniform(-9, 20, (axes, 25)).astype(real)
                    c, f = complexes(*sets, 30).astype(dtype), complexes(*sets, *modes).astype(dtype)
                    there = [Elsewhere(x) for x in points]
                    for kind, data in ((1, c), (2, f), (3, c)):
                        run = getattr(nufft, f"nufft{axes}d{kind}")
                        rest = {1: (modes,), 2: (), 3: tuple(targets)}[kind]
                        elsewhere = tuple(map(Elsewhere, rest)) if kind == 3 else rest
                        want = run(*points, data, *rest, eps=eps, nthreads=1)
                        got = run(*there, Elsewhere(data), *elsewhere, eps=eps)
                        self.assertEqual((got.dtype, got.shape), (dtype, want.shape))
                        self.assertLessEqual(error(got, want), 2 * eps, (axes, kind))

    def test_gradients_and_empty_sets(self):
        points = random.uniform(-3, 3, (2, 20))
        c, f = complexes(2, 20), complexes(2, 6, 5)
        for kind, data, g in ((1, c, f), (2, f, c)):
            made = nufft._OnCuda(Backend(), kind, (6, 5), 2, 1e-9, 1, 0, 0.0, list(points))
            plan = nufft.Plan(kind, (6, 5), 2, 1e-9, 1)
            plan.setpts(*points)
            for got, want in zip(made.gradients(data, g), plan.gradients(data, g)):
                self.assertLessEqual(error(got, want), 1e-7)
            self.assertLessEqual(error(made.execute_adjoint(g), plan.execute_adjoint(g)), 1e-8)
        x = Elsewhere(np.zeros(0))
        np.testing.assert_array_equal(nufft.nufft1d1(x, Elsewhere(np.zeros(0, complex)), 4), np.zeros(4))
        self.assertEqual(nufft.nufft1d2(x, Elsewhere(np.ones(4, complex))).shape, (0,))

    def test_mistakes(self):
        x, c = Elsewhere(np.zeros(3)), Elsewhere(np.zeros(3, complex))
        for wanted, call in (("one strength per point, 3, got 2", lambda: nufft.nufft1d1(x, Elsewhere(np.zeros(2, complex)), 4)),
                             ("of the data's library elsewhere", lambda: nufft.nufft1d1(np.zeros(3), c, 4)),
                             ("type 1 needs n_modes", lambda: nufft.nufft1d1(x, c)), ("epsilon", lambda: nufft.nufft1d1(x, c, 4, eps=-1.0)),
                             ("out must be a NumPy array", lambda: nufft.nufft1d1(x, c, 4, out=np.zeros(4, complex)))):
            with self.assertRaisesRegex(nufft.NufftError, wanted):
                call()


if __name__ == "__main__":
    unittest.main()
