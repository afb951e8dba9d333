"""Tests the array API standard's FFT extension, DLPack 1.0, pickling, the short path, and that results are of the input's library."""
import ctypes
import pickle
import signal
import sys
import threading
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import fft, filterbank, image, nufft, sar, stencil, _ridge

random = np.random.default_rng(3)
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 64, 100)


def samples(shape, dtype):
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


class ShortPath(unittest.TestCase):
    """Every call must give the same bits as the full path, which `quick` returning None selects."""

    def both(self, call):
        quick, full = _ridge.quick, None
        short = call()
        _ridge.quick = lambda *a: None
        try:
            full = call()
        finally:
            _ridge.quick = quick
        self.assertEqual((short.dtype, short.shape), (full.dtype, full.shape))
        np.testing.assert_array_equal(short, full)
        return short

    def test_same_as_the_full_path(self):
        taken = 0
        for n in LENGTHS:
            for dtype in (np.float32, np.float64, np.complex64, np.complex128):
                for shape, axis in (((n,), -1), ((3, n), 1), ((n, 3), 0), ((2, n, 3), -2)):
                    x = samples(shape, dtype)
                    for name, code in (("fft", 0), ("ifft", 1), ("rfft", 2), ("irfft", 3)):
                        if (name == "rfft") == (x.dtype.kind == "c") and name in ("rfft", "irfft") or (name == "irfft" and n < 2):
                            continue
                        for norm in (None, "ortho", "forward"):
                            for view in (x, x[::-1]):
                                taken += _ridge.quick(code, view, (None, axis), {"norm": norm}) is not None
                                got = self.both(lambda: getattr(fft, name)(view, axis=axis, norm=norm))
                                np.testing.assert_allclose(got, getattr(np.fft, name)(view.astype(np.result_type(view, np.float64)), axis=axis, norm=norm),
                                                           atol=(1e-4 if dtype in (np.float32, np.complex64) else 1e-12) * max(1, n))
        self.assertGreater(taken, 2000)

    def test_lengths_hermitian_and_cosines(self):
        """Cut and padded lines, hfft, ihfft, and the cosine and sine transforms: all take the short path, with the full path's values."""
        fourier = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for n in (1, 2, 3, 8, 17, 100):
            for shape, axis in (((n,), -1), ((3, n), 1), ((n, 3), 0)):
                for dtype in (np.float32, np.float64, np.complex64, np.complex128):
                    x = samples(shape, dtype)
                    for code, name in enumerate(fourier):
                        if (x.dtype.kind == "c") != (name not in ("rfft", "ihfft")) and name not in ("fft", "ifft"):
                            continue
                        for length in (1, n, n + 1, 3 * n + 2):
                            if axis != 0 and not (name in ("fft", "ifft") and x.dtype.kind == "f" and length < n):
                                self.assertIsNotNone(_ridge.quick(code, x, (length, axis), {}), (name, shape, length))
                            self.both(lambda: getattr(fft, name)(x, length, axis, "ortho"))
                    for code, name in enumerate(("dct", "idct", "dst", "idst")) if x.dtype.kind == "f" else ():
                        for kind in (1, 2, 3, 4):
                            if kind == 1 and n < 2:
                                continue
                            for norm, orthogonalize in ((None, None), ("ortho", None), ("forward", True), ("ortho", False)):
                                named = {"norm": norm, "orthogonalize": orthogonalize}
                                short = _ridge.quick(6 + code, x, (kind, n, axis), named)
                                with fft.set_workers(2):  # the full path
                                    full = getattr(fft, name)(x, kind, None, axis, **named)
                                self.assertEqual(short.dtype, full.dtype)
                                np.testing.assert_allclose(short, full, rtol=0, atol=np.finfo(dtype).eps * 4 * max(1, abs(full).max()))
        self.assertIsNone(_ridge.quick(6, samples((4,), np.float64), (2, 5), {}))

    def test_left_to_the_full_path(self):
        x = samples((4, 8), np.complex128)
        for args, kwargs in (((-3,), {}), ((), {"type": 2}), ((), {"workers": 2}), ((), {"overwrite_x": True}), ((), {"norm": "no"}), ((), {"axis": 9}),
                             ((), {"axis": 1.0}), ((None, -1, None, False, None, 3), {}), ((None,), {"n": None}), ((), {"what": 1})):
            self.assertIsNone(_ridge.quick(0, x, args, kwargs), (args, kwargs))
        for other in (x[:, :0], x.astype(x.dtype.newbyteorder()), x.real.astype(np.float16), [1.0], x.view(np.matrix), np.float64(3)):
            self.assertIsNone(_ridge.quick(0, other, (), {}))
        unaligned = np.frombuffer(bytearray(16 * 8 + 1), np.uint8)[1:].view(np.complex128)
        self.assertIsNone(_ridge.quick(0, unaligned, (), {}))
        with fft.set_workers(2):
            self.assertIsNone(_ridge.quick(0, x, (), {}))
        np.testing.assert_allclose(fft.fft(unaligned), np.fft.fft(unaligned))
        good = np.empty_like(x)
        self.assertIs(_ridge.quick(0, x, (), {"out": good}), good)
        np.testing.assert_array_equal(good, fft.fft(x))
        for bad in (x, x[:, ::-1], x.reshape(-1)[::-1].reshape(4, 8), good.T.copy().T, good.astype(np.complex64), good[:2], 3, good.view(np.matrix)):
            self.assertIsNone(_ridge.quick(0, x, (), {"out": bad}))
        both = np.empty(9, np.complex128)
        self.assertIsNone(_ridge.quick(0, both[:8], (), {"out": both[1:]}))
        self.assertIsNone(_ridge.quick(0, both[8:0:-1], (), {"out": both[:8]}))
        self.assertIsNone(_ridge.quick(6, x.real.copy(), (), {"out": x.real.copy()}))  # cosine transforms have none

    def test_arguments_by_name_and_position(self):
        x = samples((4, 8), np.complex128)
        want = np.fft.fft(x, 4, 0, "ortho")
        for got in (fft.fft(x, 4, 0, "ortho"), fft.fft(x, n=4, axis=0, norm="ortho"), fft.fft(x, 4, norm="or" + "tho", axis=0),
                    fft.fft(x=x, n=4, axis=0, norm="ortho"), fft.fft(x, 4, 0, "ortho", False, None, plan=None)):
            np.testing.assert_allclose(got, want)
        for wrong in (lambda: fft.fft(x, 4, n=4), lambda: fft.fft(x, what=1), lambda: fft.fft()):
            self.assertRaises(TypeError, wrong)
        _ridge.forget_plans()
        np.testing.assert_allclose(fft.fft(x), np.fft.fft(x))

    def test_more_layouts_than_entries(self):
        for n in range(1, 200):
            x = samples((n,), np.complex128)
            np.testing.assert_allclose(fft.fft(x), np.fft.fft(x), atol=1e-10)


class Frequencies(unittest.TestCase):
    def test_dtype_and_device(self):
        for n in (1, 2, 3, 8, 9):
            for d in (1.0, 0.25):
                np.testing.assert_array_equal(fft.fftfreq(n, d), np.fft.fftfreq(n, d))
                np.testing.assert_array_equal(fft.rfftfreq(n, d=d, dtype=np.float32, device="cpu"), np.fft.rfftfreq(n, d).astype("f4"))
        self.assertEqual(fft.fftfreq(4, dtype="float32").dtype, np.float32)
        self.assertRaises(TypeError, fft.fftfreq, 4, dtype=int)
        self.assertRaises(ValueError, fft.rfftfreq, 4, device="cuda:0")

    def test_namespace(self):
        xp = ridge.array_api(np)
        x = samples((3, 4), np.float32)
        self.assertEqual(xp.fft.fft(x, axis=0).dtype, np.complex64)
        np.testing.assert_allclose(xp.fft.irfftn(xp.fft.rfftn(x, axes=(0, 1)), s=(3, 4), axes=(0, 1)), x, rtol=1e-5)
        self.assertEqual(xp.sum(x), x.sum())
        self.assertRaises(TypeError, xp.fft.fft, x, 4)  # keywords only
        self.assertEqual(xp.fft.fftfreq(5, dtype=np.float32).dtype, np.float32)
        np.testing.assert_array_equal(xp.fft.ifftshift(xp.fft.fftshift(x)), x)


class Kinds(unittest.TestCase):
    """Results are arrays of the input's library."""

    def test_subclasses(self):
        class Sub(np.ndarray):
            pass
        x = samples((4, 6), np.float64)
        for name in ("fft", "rfft", "fftn", "dct", "ihfft"):
            got = getattr(fft, name)(x.view(Sub))
            self.assertIs(type(got), Sub, name)
            np.testing.assert_array_equal(np.asarray(got), getattr(fft, name)(x))
        for plain in (np.ma.MaskedArray(x, mask=x > 0), np.asmatrix(x)):
            self.assertIs(type(fft.fft(plain)), np.ndarray)

    def test_array_api_object_on_the_host(self):
        class Strict:
            """An array of a namespace that knows only DLPack."""
            def __init__(self, array):
                self.array = array

            def __array_namespace__(self, api_version=None):
                class Namespace:
                    @staticmethod
                    def from_dlpack(x):
                        return Strict(np.from_dlpack(x))
                return Namespace

            def __dlpack__(self, **how):
                return self.array.__dlpack__(**how)

            def __dlpack_device__(self):
                return (1, 0)
        x = samples((5, 7), np.complex64)
        got = fft.fft(Strict(x[:, ::2]), axis=0)
        self.assertIs(type(got), Strict)
        np.testing.assert_allclose(got.array, np.fft.fft(x[:, ::2], axis=0), atol=1e-5)

    def test_xarray(self):
        try:
            import xarray
        except ImportError as missing:
            self.skipTest(str(missing))
        da = xarray.DataArray(samples((4, 6), np.float64), dims=("x", "time"), coords={"x": [1, 2, 3, 4], "time": np.arange(6.0)}, name="a")
        got = fft.rfft(da)
        self.assertEqual((got.dims, list(got.coords), got.name), (("x", "time"), ["x"], "a"))
        np.testing.assert_allclose(got.values, np.fft.rfft(da.values))

    def test_numpy_functions_of_our_arrays(self):
        a = ridge.array(samples((8,), np.complex128))
        self.assertIsInstance(np.fft.fft(a), ridge.Array)
        np.testing.assert_allclose(np.fft.fft(a).numpy(), np.fft.fft(a.numpy()))
        self.assertEqual(np.concatenate([a, a]).shape, (16,))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("axes", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def content(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return Versioned.from_address(get(capsule, b"dltensor_versioned"))


_kept = []


class Exporter:
    """Another library's array with DLPack 1.0: a structure made here."""

    def __init__(self, array, flags=0, major=1):
        self.array, self.deleted = array, []
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*[s // array.itemsize for s in array.strides])
        self.delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.deleted.append)
        self.tensor = Versioned(major, 0, None, ctypes.cast(self.delete, ctypes.c_void_p), flags, array.ctypes.data, 1, 0, array.ndim,
                                2 if array.dtype.kind == "f" else 5, 8 * array.itemsize, 1, self.shape, self.strides, 0)
        _kept.append(self)  # the capsule refers to the structures above

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None, max_version=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        assert max_version == (1, 0)
        return new(ctypes.addressof(self.tensor), b"dltensor_versioned", None)


class Dlpack(unittest.TestCase):
    def test_out(self):
        a = ridge.array(samples((2, 3), np.float32))
        capsule = a.__dlpack__(max_version=(1, 0))
        t = content(capsule)
        self.assertEqual((t.major, t.minor, t.flags, t.axes, list(t.shape[:2]), t.code, t.bits), (1, 0, 0, 2, [2, 3], 2, 32))
        self.assertEqual(t.data, a._held.address())
        copy = a.__dlpack__(max_version=(1, 1), copy=True, dl_device=(1, 0))
        self.assertEqual(content(copy).flags, 2)
        self.assertNotEqual(content(copy).data, t.data)
        self.assertIn('"dltensor"', repr(a.__dlpack__()))
        with self.assertRaisesRegex(ValueError, "no stream"):
            a.__dlpack__(stream=-1)
        self.assertRaises(BufferError, a.__dlpack__, dl_device=(2, 0))

    def test_in(self):
        x = samples((3, 4), np.complex128)
        given = Exporter(x)
        a = ridge.from_dlpack(given)
        self.assertFalse(a.read_only)
        self.assertEqual(a._held.address(), x.ctypes.data)
        del a
        self.assertEqual(len(given.deleted), 1)
        constant = ridge.from_dlpack(Exporter(x, flags=1))
        self.assertTrue(constant.read_only)
        before = x.copy()
        with self.assertRaisesRegex(ValueError, "read-only"):
            constant.set(np.zeros((3, 4), complex))
        np.testing.assert_array_equal(x, before)
        np.testing.assert_array_equal(np.asarray(constant), x)
        self.assertRaises(BufferError, constant.__dlpack__)
        exported = constant.__dlpack__(max_version=(1, 0))
        self.assertEqual(content(exported).flags, 1)
        wrong = Exporter(x, major=2)
        with self.assertRaisesRegex(ValueError, "version 2"):
            ridge.from_dlpack(wrong)
        self.assertEqual(wrong.deleted, [])
        with self.assertRaisesRegex(ValueError, "contiguous"):
            ridge.from_dlpack(Exporter(x.T))


def diffused(u):
    return 0.5 * u[0, 0] + 0.25 * (u[-1, 0] + u[0, 1])


class Pickles(unittest.TestCase):
    def test_plans_and_arrays(self):
        for x in (samples((3, 20), np.complex64), samples((20, 3), np.float64)[::-2].T):
            plan = fft.plan(x, kind="complex" if x.dtype.kind == "c" else "real", norm="ortho", measured=False)
            for one in (plan, plan.adjoint()):
                again = pickle.loads(pickle.dumps(one))
                y = x if one is plan else plan(x)
                np.testing.assert_array_equal(again(y), one(y))
        a = ridge.array(samples((4,), np.float32))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(a)).numpy(), a.numpy())
        c = pickle.loads(pickle.dumps(fft.convolution([1.0, 2.0]).adjoint()))
        np.testing.assert_allclose(c([1.0, 1.0, 1.0]), [3, 3])

    def test_plans_of_every_workload(self):
        grid, picture, z = samples((12, 10), np.float32), samples((12, 10), np.float32), samples((12, 10), np.complex64)
        bank = filterbank.plan(channels=8, taps=4, polarizations=1, samples="float32")
        radar = sar.Radar(pulses=64, samples=512, pulse_s=1e-6)
        echoes, track = radar.simulate([(20.0, 4200.0)]), np.zeros((64, 2))
        basis = np.array([[0, 0, 0, 2], [1, 2, 0, 3]])
        columns = fft.Columns((3, 4, 5), basis)
        basis[0, 3] = 5  # the plan keeps its own
        for one, run in (
                (stencil.plan({(0, 0): 0.5, (0, 1): 0.5}, grid, border="periodic"), lambda p: p(grid, 3)),
                (stencil.plan(stencil.heat(1.0, 0.1, (1, 1)), grid), lambda p: p(grid, 3)),
                (stencil.plan(diffused, grid), lambda p: p(grid, 3)),
                (image.OperatorPlan("gauss 2", grid.shape, np.float32, border="wrap"), lambda p: p(picture)),
                (image.VariancePlan(grid.shape, np.float32, window=3), lambda p: p(picture)),
                (bank, lambda p: p.stream().push(z[:, 0].repeat(20))),
                (radar.plan(), lambda p: p(echoes)), (sar.Backprojection(radar, track=track), lambda p: p(echoes)),
                (fft.Boxes(z.shape, (4, 5)), lambda p: p.forward(z[:4, :5])),
                (fft.Boxes(z.shape, (4, 5)).adjoint(), lambda p: p.inverse(z)),
                (fft.BoxFilter(z, (4, 5)), lambda p: p(z[:4, :5])),
                (columns, lambda p: p.inverse(np.arange(5) + 1j)), (fft.RealBoxes((8, 9), ("dct2", "dst1"), (4, 5)), lambda p: p(grid[:4, :5])),
                (fft.plan_float16(10, 12, kind="real"), lambda p: p(grid.astype(np.float16)))):
            np.testing.assert_array_equal(run(pickle.loads(pickle.dumps(one))), run(one), str(one))
        stream, x = bank.stream(), samples((600,), np.complex64)
        stream.push(x[:200])
        again = pickle.loads(pickle.dumps(stream))
        np.testing.assert_array_equal(again.push(x[200:]), stream.push(x[200:]))
        points = np.linspace(-3, 3, 50)
        again = pickle.loads(pickle.dumps(nufft.Plan(1, 20, eps=1e-9)))  # without points
        again.setpts(points)
        np.testing.assert_allclose(again.execute(points + 0j), nufft.nufft1d1(points, points + 0j, 20, eps=1e-9), atol=1e-6)


class Interrupts(unittest.TestCase):
    def test_long_runs_of_stencils(self):
        class Ended(Exception):
            pass

        def end(*_):
            raise Ended
        before = signal.signal(signal.SIGALRM, end)
        try:
            u = np.ones((200, 200), np.float32)
            plan = stencil.plan(lambda u: stencil.abs(u[0, 0]) * 0.5 + 0.25 * stencil.max(u[0, 1], u[1, 0]), u, border="mirror")
            session = plan.start(u)
            turning = stencil.plan(lambda u: 0 - stencil.max(u[0, 0], u[0, 0]), u, border="mirror")  # never converges
            wave = stencil.Wave((40, 40), 1500, [[5, 20]], [[5, 10]], 20_000)
            model = np.full((40, 40), 1500.0)
            for run in (plan.run, lambda _, steps: session.run(steps), lambda u, steps: turning.run_until(u, 0, "max", steps),
                        lambda u, steps: turning.run_until(u, 0, "max", steps, steps),
                        lambda _, __: wave.forward(model), lambda _, __: wave.gradient(model, np.ones((1, 20_000, 1)))):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with self.assertRaises(Ended):
                    run(u, 400_000)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertLess(session.steps, 400_000)
        self.assertTrue((u == 1).all())  # a run that did not end writes nothing

    def test_focusing_and_flows(self):
        class Ended(Exception):
            pass

        def end(*_):
            raise Ended
        radar = sar.Radar(pulses=1024, samples=1024, workers=1)
        echoes, focused = np.ones((1024, 1024), np.complex64), np.full((1024, 1024), np.nan, np.complex64)
        frame, moved = random.integers(0, 256, (1500, 2000, 3), np.uint8), np.full((1500, 2000, 2), np.nan, np.float32)
        focus, flow = sar.Backprojection(radar, "backprojection"), image.FlowPlan(frame.shape, workers=1)
        before = signal.signal(signal.SIGALRM, end)
        try:
            for run in (lambda: focus(echoes, focused), lambda: flow(frame, frame[::-1].copy(), moved)):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                with self.assertRaises(Ended):
                    run()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertTrue(np.isnan(focused).any() and np.isnan(moved).all())  # they ended early


class Threads(unittest.TestCase):
    """Objects with a state, shared by threads without a lock: every call has an answer or an error, and none ends the process."""

    def concurrently(self, *calls):
        wrong = []

        def repeat(call):
            try:
                for _ in range(40):
                    call()
            except ValueError as error:  # of arrays whose size no longer fits
                if "vector" in str(error):
                    wrong.append(error)
            except Exception as error:  # noqa: BLE001: reported below
                wrong.append(error)
        threads = [threading.Thread(target=repeat, args=(call,)) for call in calls * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_new_points_during_runs(self):
        points, strengths = np.random.default_rng(3).uniform(-3, 3, (2, 2000)), np.ones(2000, complex)
        plan = nufft.Plan(1, (40, 40), eps=1e-6)
        plan.setpts(*points)
        wanted = plan.execute(strengths)
        self.concurrently(lambda: plan.setpts(*points), lambda: np.testing.assert_array_equal(plan.execute(strengths), wanted))

    def test_streams(self):
        bank = filterbank.plan(channels=16, taps=4, polarizations=1, samples="float32")
        x = samples((16 * 40,), np.complex64)
        stream, correlator, synthesis = bank.stream(), bank.correlator(times=4), bank.synthesis()
        spectra = bank.stream().push(x)
        self.concurrently(lambda: stream.push(x), lambda: stream.save(), lambda: correlator.push(spectra), lambda: synthesis.push(spectra))
        session = stencil.plan({(0, 0): 0.5, (0, 1): 0.5}, np.zeros((60, 60), np.float32)).start(np.zeros((60, 60), np.float32))
        self.concurrently(lambda: session.run(2), session.read)
        self.assertEqual(session.steps, 160)


class Adjoints(unittest.TestCase):
    """<A x, g> = <x, A^H g> through Python; ridge check adjoint tests the plans themselves."""

    def dot(self, a, b):
        return np.vdot(a, b).real

    def test_plans(self):
        for n in LENGTHS:
            for kind, dtype in (("complex", np.complex128), ("real", np.float64)):
                for norm in (None, "ortho", "forward"):
                    x = samples((3, n), dtype)
                    plan = fft.plan(x, kind=kind, norm=norm, measured=False)
                    y = plan(x)
                    g = samples(y.shape, y.dtype)
                    self.assertLess(abs(self.dot(g, y) - self.dot(plan.adjoint()(g), x)), 1e-12 * np.linalg.norm(g) * np.linalg.norm(y))
                    np.testing.assert_allclose(plan.adjoint().adjoint()(x), y, atol=1e-12)

    def test_other_plans(self):
        for dtype in (np.float64, np.complex128):
            h, x, g = samples(5, dtype), samples(40, dtype), samples(44, dtype)
            plan = fft.convolution(h)
            np.testing.assert_allclose(plan(x), np.convolve(x, h))
            self.assertLess(abs(self.dot(g, plan(x)) - self.dot(plan.adjoint()(g), x)), 1e-11)
        bank = ridge.filterbank.plan(channels=8, taps=4, polarizations=1, samples="float32")
        x, g = samples(8 * 20, np.complex64), samples((20, 1, 1, 8), np.complex64)
        y = bank.stream().push(x)
        self.assertLess(abs(self.dot(g, y) - self.dot(bank.adjoint(g), x)), 1e-4 * np.linalg.norm(g))
        gradient = bank.adjoint_weights(x, g)
        self.assertLess(abs(self.dot(g, y) - self.dot(gradient, bank.weights)), 1e-4 * np.linalg.norm(g))
        for chain in ("gauss 1.5", "resize 0.5", "box 3 | gray"):
            x = samples((12, 9, 3), np.float32)
            plan = ridge.image.OperatorPlan(chain, x.shape, x.dtype)
            y = plan(x)
            g = samples(y.shape, np.float32)
            self.assertLess(abs(self.dot(g, y) - self.dot(plan.adjoint(g), x)), 1e-4)
        with self.assertRaisesRegex(ValueError, "median.*no adjoint"):
            ridge.image.OperatorPlan("median 1", (8, 8), np.float32).adjoint(np.zeros((8, 8), np.float32))
        with self.assertRaisesRegex(ValueError, "float images"):
            ridge.image.OperatorPlan("gauss 1", (8, 8), np.uint8).adjoint(np.zeros((8, 8), np.uint8))


if __name__ == "__main__":
    unittest.main()
