"""Tests every Python function with common kinds of arguments: pandas, xarray, anything with __array__, subclasses, memoryviews,
other byte orders, other strides, lists.

The result is that of the plain array, and the caller's memory is what it was, byte for byte. pandas and xarray are left out where
they are not installed; a class whose __array__ returns its own array, which is what theirs do, is always there.
"""
import inspect
import os
import sys
import tempfile
import unittest
import warnings

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import fft, filterbank, image, nufft, sar, search, stencil

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pandas
except ImportError:
    pandas = None
    print("without pandas")
try:
    import xarray
except ImportError:
    xarray = None
    print("without xarray")

random = np.random.default_rng(7)


class Own:
    """Converts to its own array without a copy; base is None."""

    def __init__(self, array):
        self.held = array

    def __array__(self, dtype=None, copy=None):
        return self.held if dtype is None else self.held.astype(dtype, copy=False)


class Sub(np.ndarray):
    pass


def wrappers(array):
    """(name, object, its memory) for every kind of object that can hold the array."""
    def fresh():
        return np.array(array, order="C")
    a = fresh()
    yield "__array__", Own(a), a
    a = fresh()
    yield "a subclass", a.view(Sub), a
    a = fresh()
    yield "a masked array", np.ma.MaskedArray(a), a
    a = fresh()
    yield "a memoryview", memoryview(a), a
    a = fresh()
    a.flags.writeable = False
    yield "read-only", a, a
    if xarray is not None:
        a = fresh()
        yield "DataArray", xarray.DataArray(a), a
    if pandas is not None and array.ndim == 1:
        a = fresh()
        yield "Series", pandas.Series(a, index=np.arange(5, 5 + a.size)), a
    if pandas is not None and array.ndim == 2:
        a = fresh()
        frame = pandas.DataFrame(a)
        yield "DataFrame", frame, np.asarray(frame)


def layouts(array):
    """(name, array of the same values) in the other byte order, in other strides, without alignment, as a list."""
    if array.dtype.itemsize > 1:
        yield "the other byte order", array.astype(array.dtype.newbyteorder())
    yield "Fortran order", np.asfortranarray(array)
    yield "every second element", np.repeat(array, 2, axis=-1)[..., ::2]
    yield "reversed", array[..., ::-1].copy()[..., ::-1]
    unaligned = np.frombuffer(bytearray(array.nbytes + 1), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    yield "unaligned", unaligned
    yield "a list", array.tolist()
    yield "objects", array.astype(object)


def complexes(*shape, dtype=np.complex128):
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


def reals(*shape, dtype=np.float64):
    return random.standard_normal(shape).astype(dtype)


def written(write, read, suffix):
    def call(x):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x" + suffix)
            write(path, x)
            return read(path)
    return call


def pushed_after(change):
    """The stream's next spectra, after a call on it."""
    def call(x):
        stream = BANK.stream()
        change(stream, x)
        return stream.push(SAMPLES)
    return call


BANK = filterbank.plan(channels=8, taps=4, polarizations=1, samples="float32", delays=(0.1, 4))
SAMPLES = complexes(128, dtype=np.complex64)
BYTES = random.integers(-100, 100, 8 * 2 * 16, np.int8)
RADAR = sar.Radar(pulses=64, samples=512, pulse_s=1e-6)
ECHOES = RADAR.simulate([(20.0, 4200.0)])
SMALL = {"layers": 1, "max_flow": 1, "averaging_radius": 1}
GRID = reals(6, 9, dtype=np.float32)
BAND = search.Band(1500.0, -1.0, 1e-3)
POWER = random.integers(0, 60, (1100, 16), np.uint8) + np.uint8(120) * (np.arange(1100) % 16 == 3).astype(np.uint8)[:, None]
PLACES = random.uniform(-3, 3, 50)
MEAN = {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}


def conduct(u, *, k):
    return u[0, 0] + 0.1 * k[0, 0] * (u[-1, 0] - u[0, 0])


def session(u, k):
    started = stencil.plan(conduct, GRID, border="periodic").start(u, k)
    started.run(3)
    return started.read()


def started(kind):
    plan = nufft.Plan(kind, (20,))
    plan.setpts(PLACES)
    return plan


# The calls and their arrays. Arrays of one axis are also passed as pandas Series, those of two as DataFrame.
CALLS = {}
for name in ("fft", "ifft", "irfft", "hfft"):
    for dtype in (np.complex128, np.complex64, np.float64, np.int16):
        x = complexes(12).astype(dtype) if np.dtype(dtype).kind == "c" else (reals(12) * 9).astype(dtype)
        for n in (None, 7, 12, 30):
            CALLS[f"fft.{name} {np.dtype(dtype)} {n}"] = (lambda x, f=getattr(fft, name), n=n: f(x, n), x)
for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn", "hfft2", "hfftn"):
    for dtype in (np.complex128, np.complex64, np.float32):
        x = complexes(6, 8).astype(dtype) if np.dtype(dtype).kind == "c" else reals(6, 8, dtype=dtype)
        for s in (None, (4, 12), (6, 8)):
            CALLS[f"fft.{name} {np.dtype(dtype)} {s}"] = (lambda x, f=getattr(fft, name), s=s: f(x, s), x)
for name in ("rfft", "ihfft"):
    for n in (None, 7, 30):
        CALLS[f"fft.{name} {n}"] = (lambda x, f=getattr(fft, name), n=n: f(x, n), reals(12))
for name in ("rfft2", "rfftn", "ihfft2", "ihfftn"):
    CALLS[f"fft.{name}"] = (getattr(fft, name), reals(6, 8, dtype=np.float32))
for name in ("dct", "idct", "dst", "idst"):
    for kind in (1, 2, 3, 4):
        for n in (None, 7, 30):
            CALLS[f"fft.{name} {kind} {n}"] = (lambda x, f=getattr(fft, name), k=kind, n=n: f(x, k, n, norm="ortho"), reals(12))
    CALLS[f"fft.{name} complex"] = (lambda x, f=getattr(fft, name): f(x, 3, norm="ortho"), complexes(12))
    CALLS[f"fft.{name}n"] = (lambda x, f=getattr(fft, name + "n"): f(x, 3, norm="ortho"), reals(6, 8))
CALLS.update({
    "fft.zoom": (lambda x: fft.zoom(x, [0.1, 0.4], 9), complexes(12)),
    "fft.sphere_columns": (lambda basis: fft.sphere_columns((8, 8, 8), basis, 2.5), np.eye(3)),
    "fft.Columns": (lambda rows: fft.Columns((3, 4, 5), rows).forward(np.ones((3, 4, 5))), np.array([[0, 1, 2, 3], [2, 0, 4, 2]])),
    "fft.Columns.forward": (lambda x: fft.Columns((3, 4, 5), [[0, 1, 2, 3]]).forward(x), complexes(3, 4, 5)),
    "fft.Columns.inverse": (lambda x: fft.Columns((3, 4, 5), [[0, 1, 2, 3]]).inverse(x), complexes(3)),
    "fft.Boxes.forward": (lambda x: fft.Boxes((8, 9), (4, 5)).forward(x), complexes(4, 5)),
    "fft.Boxes.inverse": (lambda y: fft.Boxes((8, 9), (4, 5), dtype=float).inverse(y), complexes(8, 5)),
    "fft.BoxFilter": (lambda x: fft.BoxFilter(np.ones((8, 9)), (4, 5))(x), complexes(4, 5)),
    "fft.BoxFilter spectrum": (lambda s: fft.BoxFilter(s, (4, 5))(np.ones((4, 5))), complexes(8, 9)),
    "fft.RealBoxes": (fft.RealBoxes((8, 9), ("dct2", "dst1"), (4, 5)), reals(4, 5)),
    "fft.czt": (lambda x: fft.czt(x, 9), complexes(12)),
    "fft.plan": (lambda x: fft.plan(x, measured=False)(np.ones(12, complex)), complexes(12)),
    "fft.Plan": (lambda x: fft.plan(np.empty(12, complex), measured=False)(x), complexes(12)),
    "fft.Plan real": (lambda x: fft.plan(np.empty(12), kind="real", measured=False)(x), reals(12)),
    "fft.convolution": (lambda h: fft.convolution(h)(np.ones(12)), reals(5)),
    "fft.Convolution": (lambda x: fft.convolution(np.ones(5))(x), reals(12)),
    "fft.Float16Plan": (lambda x: fft.plan_float16(12, kind="real")(x), reals(1, 12, dtype=np.float16)),
    "stencil.update": (lambda w: stencil.run(stencil.update(w), GRID[0]), np.array([0.25, 0.5, 0.25])),
    "stencil.update 2-D": (lambda w: stencil.run(stencil.update(w), GRID), np.full((3, 3), 1 / 9)),
    "stencil.heat": (lambda h: stencil.run(stencil.heat(1.0, 0.1, h), GRID), np.ones(2)),
    "stencil.wave": (lambda h: stencil.run(stencil.wave(1.0, 0.1, h), np.stack([GRID, GRID])), np.ones(2)),
    "stencil.plan": (lambda u: stencil.plan(MEAN, u)(GRID), GRID),
    "stencil.Plan": (lambda u: stencil.plan(MEAN, GRID)(u, 3), GRID),
    "stencil.run": (lambda u: stencil.run(MEAN, u, 3), GRID),
    "stencil.run coefficients": (lambda u, k: stencil.run(conduct, u, 3, coefficients=k), GRID, reals(6, 9, dtype=np.float32)),
    "stencil.Session": (session, GRID, reals(6, 9, dtype=np.float32)),
    "filterbank.response": (lambda h: filterbank.response(h, 8, 0.3), filterbank.design(8, 4)),
    "filterbank.quality": (lambda h: list(filterbank.quality(h, 8).values()), filterbank.design(8, 4)),
    "filterbank.plan weights": (lambda h: filterbank.plan(8, 4, polarizations=1, samples="float32", weights=h).weights,
                                filterbank.design(8, 4)),
    "filterbank.plan bandpass": (lambda b: filterbank.plan(8, 4, polarizations=1, samples="float32", bandpass=b).stream().push(SAMPLES),
                                 complexes(8)),
    "filterbank.plan delays": (lambda d: filterbank.plan(8, 4, polarizations=1, samples="float32", delays=d).stream().push(SAMPLES),
                               np.array([0.1, 4.0])),
    "filterbank.plan oversampling": (lambda o: filterbank.plan(8, 4, samples="int8", oversampling=o).stream().push(BYTES),
                                     np.array([8, 7])),
    "filterbank.Stream": (lambda x: BANK.stream().push(x), SAMPLES),
    "filterbank.Stream bytes": (lambda x: filterbank.plan(8, 4, samples="int8").stream().push(x), BYTES),
    "filterbank.Stream.replace_weights": (pushed_after(lambda stream, h: stream.replace_weights(h, 40)), 2 * filterbank.design(8, 4)),
    "filterbank.Stream.set_delays": (pushed_after(lambda stream, d: stream.set_delays(0, d)), np.array([1.25])),
    "filterbank.Power": (lambda x: filterbank.plan(8, 4, samples="int8").power(times=2).push(x), BYTES),
    "filterbank.Correlator": (lambda x: filterbank.plan(8, 4, stations=3, polarizations=1).correlator(times=4).push(x),
                              complexes(8, 24, dtype=np.complex64)),
    "filterbank.Synthesis": (lambda x: filterbank.plan(8, 4, polarizations=1, oversampling=(8, 7)).synthesis().push(x),
                             complexes(20, 8, dtype=np.complex64)),
    "image.flow": (lambda a, b: image.flow(a, b, **SMALL), *random.integers(0, 256, (2, 20, 24), np.uint8)),
    "image.FlowPlan": (lambda a, b: image.FlowPlan((20, 24), **SMALL)(a, b), *random.integers(0, 256, (2, 20, 24), np.uint8)),
    "image.flow colours": (lambda a, b: image.flow(a, b, **SMALL), *random.integers(0, 256, (2, 20, 24, 3), np.uint8)),
    "image.variance": (lambda x: image.variance(x, 5), GRID),
    "image.VariancePlan": (lambda x: image.VariancePlan((6, 9), "float32", 3)(x), GRID),
    "image.apply": (lambda x: image.apply("gauss 1 | resize 0.5", x), random.integers(0, 256, (12, 16), np.uint8)),
    "image.OperatorPlan": (lambda x: image.OperatorPlan("box 3", (12, 16, 3), "uint8")(x), random.integers(0, 256, (12, 16, 3), np.uint8)),
    "image.apply guide": (lambda x, g: image.apply("cross-bilateral 2 2 30", x, g), *random.integers(0, 256, (2, 12, 16), np.uint8)),
    "image.write": (written(image.write, image.read, ".npy"), random.integers(0, 256, (12, 16), np.uint8)),
    "image.write_flow": (written(image.write_flow, image.read_flow, ".flo"), reals(4, 5, 2, dtype=np.float32)),
    "image.flow_picture": (image.flow_picture, reals(4, 5, 2, dtype=np.float32)),
    "image.compare_flow": (lambda a, b: list(image.compare_flow(a, b).values()), *reals(2, 4, 5, 2, dtype=np.float32)),
    "sar.Radar.simulate": (RADAR.simulate, np.array([[20.0, 4200.0], [25.0, 4300.0]])),
    "sar.Radar.focus": (RADAR.focus, ECHOES),
    "sar.Radar.simulate with a track": (lambda t: RADAR.simulate([(20.0, 4200.0)], t), 0.1 * reals(64, 2)),
    "sar.Radar.autofocus": (lambda x: RADAR.autofocus(x, 1, 1), ECHOES),
    "sar.Backprojection": (lambda x, t: sar.Backprojection(RADAR, "backprojection", t)(x), ECHOES, 0.1 * reals(64, 2)),
    "sar.Plan": (RADAR.plan(), ECHOES),
    "sar.Radar.measure": (lambda x: RADAR.measure(x, *RADAR.cell(20.0, 4200.0))["peak"], RADAR.focus(ECHOES)),
    "filterbank.Bank.adjoint": (lambda g: filterbank.plan(8, 4, polarizations=1, samples="float32").adjoint(g),
                                complexes(1, 1, 16, 8, dtype=np.complex64)),
    "nufft.nufft1d1": (lambda x, c: nufft.nufft1d1(x, c, 20), PLACES, complexes(50)),
    "nufft.nufft1d2": (nufft.nufft1d2, PLACES, complexes(21)),
    "nufft.nufft1d3": (nufft.nufft1d3, PLACES, complexes(50), random.uniform(-3, 3, 20)),
    "nufft.nufft2d1": (lambda x, y, c: nufft.nufft2d1(x, y, c, (8, 9)), PLACES, PLACES[::-1].copy(), complexes(50)),
    "nufft.nufft2d2": (nufft.nufft2d2, PLACES, PLACES[::-1].copy(), complexes(8, 9)),
    "nufft.Plan": (lambda c: started(1).execute(c), complexes(50)),
    "nufft.Plan.execute_adjoint": (lambda f: started(1).execute_adjoint(f), complexes(20)),
    "nufft.Normal": (lambda x, w, f: nufft.Normal(20, [x], w)(f), PLACES, np.abs(PLACES), complexes(20)),
    "search.find": (lambda p: [found["snr"] for found in search.find(p, BAND, (0, 5), 3.5)], POWER),
    "search.find float32": (lambda p: [found["snr"] for found in search.find(p, BAND, (0, 5), 3.5)], POWER.astype(np.float32)),
    "search.find int64": (lambda p: [found["snr"] for found in search.find(p, BAND, 3, 3.5)], POWER.astype(np.int64)),
    "search.fold": (lambda p: search.fold(p, BAND, 0.05)[0], POWER),
    "search.periods": (lambda p: [found["frequency"] for found in search.periods(p, BAND, threshold=1)], POWER),
    "search.dedisperse": (lambda v: search.dedisperse(v, 5, 1400, 6.25), complexes(5000, dtype=np.complex64)),
    "search.beam_weights": (lambda p, d: search.beam_weights(p, d, [1400.0]), 100 * reals(4, 3), np.eye(3)[:2]),
    "search.beamform": (lambda v, w: search.beamform(v, w, integrate=8), complexes(3, 32, 4, dtype=np.complex64),
                        complexes(3, 2, 4, dtype=np.complex64)),
    "search.beamform int8": (lambda v, w: search.beamform(v, w, integrate=8, arithmetic="int8"),
                             random.integers(-128, 128, (3, 32, 4, 2), dtype=np.int8), complexes(3, 2, 4, dtype=np.complex64)),
    "array.array": (lambda x: ridge.array(x), GRID),
    "array.Array.set": (lambda x: (a := ridge.empty((6, 9), np.float32)).set(x) or a, GRID),
})
# Public names that take no array, or whose table entry has another name.
WITHOUT = {
    "fft": {"fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "register", "set_workers", "get_workers", "plan_float16"},
    "stencil": {"Update", "euler", "life", "min", "max", "abs", "sqrt", "fma", "select", "Wave"},  # Wave: tested in workloads_test.py
    "filterbank": {"Bank", "design"}, "image": {"read", "read_flow"}, "sar": set(), "search": {"Band", "simulate"},
    # As nufft1d3 and nufft2d1, with another number of axes.
    "nufft": {"NufftError", "nufft2d3", "nufft3d1", "nufft3d2", "nufft3d3"},
    "array": {"asarray", "from_dlpack", "empty"},  # intentionally without a copy: tested in tests/python/workloads_test.py
}


def values(result):
    return result.numpy() if isinstance(result, ridge.Array) else np.asarray(result)


class Inputs(unittest.TestCase):
    def test_every_public_function_is_in_the_table(self):
        called = {name.split()[0] for name in CALLS}
        for module, without in WITHOUT.items():
            for name in getattr(ridge, module).__all__ if module != "array" else ["Array", "array", "empty", "asarray", "from_dlpack"]:
                prefix = f"{module}.{name}"
                known = name in without or any(c == prefix or c.startswith(prefix + ".") for c in called)
                self.assertTrue(known, f"{prefix} is called with no object of another library")

    def test_same_result_and_the_input_stays(self):
        tried = set()
        for what, (call, *arrays) in CALLS.items():
            wanted = values(call(*[np.array(a) for a in arrays]))
            kept = [np.array(a) for a in arrays]
            wanted_again = values(call(*kept))
            for before, after in zip(arrays, kept):
                self.assertEqual(before.tobytes(), after.tobytes(), f"{what}: a plain array is changed")
            np.testing.assert_array_equal(wanted, wanted_again, what)
            for position, array in enumerate(arrays):
                for kind, given, memory in wrappers(array):
                    if kind == "a memoryview" and memory.dtype.kind == "c" and isinstance(given, memoryview) and not given.format:
                        continue
                    arguments = [np.array(a) for a in arrays]
                    arguments[position] = given
                    with self.subTest(what, kind=kind, position=position):
                        before = memory.tobytes()
                        got = values(call(*arguments))
                        self.assertEqual((got.shape, got.dtype), (wanted.shape, wanted.dtype))
                        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())
                        self.assertEqual(memory.tobytes(), before, "the caller's memory was changed")
                        self.assertFalse(isinstance(got, np.ndarray) and np.shares_memory(got, memory))
                        tried.add(kind)
        self.assertGreaterEqual(len(tried), 5)

    def test_layouts_have_the_same_result_or_are_refused(self):
        accepted = set()
        for what, (call, *arrays) in CALLS.items():
            wanted = values(call(*[np.array(a) for a in arrays]))
            for position, array in enumerate(arrays):
                for kind, given in layouts(array):
                    arguments = [np.array(a) for a in arrays]
                    arguments[position] = given
                    with self.subTest(what, kind=kind, position=position):
                        before = np.array(given)
                        try:
                            got = values(call(*arguments))
                        except (TypeError, ValueError, NotImplementedError) as refusal:
                            self.assertGreater(len(str(refusal)), 20)
                            continue
                        self.assertEqual(got.shape, wanted.shape)
                        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())
                        np.testing.assert_array_equal(before, np.array(given), "the caller's memory was changed")
                        accepted.add(kind)
        self.assertEqual(len(accepted), 7)

    def test_more_workers_than_threads_can_be(self):
        x = reals(6, 12)
        for name in ("fft", "rfft", "irfft", "fftn", "dct", "dstn"):
            transform = getattr(fft, name)
            np.testing.assert_array_equal(transform(x, workers=2**40), transform(x, workers=2), name)

    def test_overwrite_x_only_where_asked(self):
        x = complexes(64)
        for given in (x.copy(), Own(x.copy())):
            memory = np.asarray(given)
            fft.fft(given, overwrite_x=True)
            np.testing.assert_allclose(memory, np.fft.fft(x))  # in place, as requested
        windows = np.lib.stride_tricks.as_strided(x.copy(), (16, 8), (16, 16))  # overlapping elements
        want = np.fft.fft(windows)
        np.testing.assert_allclose(fft.fft(windows, overwrite_x=True), want)

    def test_in_place_functions_refuse_what_may_be_a_copy(self):
        plan = stencil.plan(MEAN, GRID)
        for kind, given, memory in wrappers(GRID):
            for call in (lambda: plan.run(given, 2), lambda: plan.run_until(given, 1e9)):
                before = memory.tobytes()
                if kind in ("a subclass", "a masked array", "a memoryview"):  # these share the memory
                    call()
                    self.assertNotEqual(memory.tobytes(), before, kind)
                    continue
                with self.assertRaises((TypeError, ValueError), msg=kind) as raised:
                    call()
                self.assertIn("read-only" if kind == "read-only" else "in place", str(raised.exception))
                self.assertEqual(memory.tobytes(), before, kind)

    def test_constant_arrays_of_other_libraries_are_not_stepped(self):
        class Constant:
            """Behaves as a JAX array: DLPack exports the memory, __array__ marks it read-only."""

            def __init__(self, array):
                self._array = array

            def __dlpack__(self, stream=None):
                return self._array.__dlpack__()

            def __dlpack_device__(self):
                return 1, 0

            def __array__(self, dtype=None, copy=None):
                view = self._array.view()
                view.flags.writeable = False
                return view
        memory = GRID.copy()
        with self.assertRaisesRegex(ValueError, "read-only"):
            stencil.plan(MEAN, GRID).run(Constant(memory), 2)
        np.testing.assert_array_equal(memory, GRID)

    def test_outputs_must_be_arrays(self):
        out = Own(np.zeros(12, complex))
        for call in (lambda: fft.plan(np.ones(12, complex), measured=False)(np.ones(12, complex), out),
                     lambda: image.VariancePlan((6, 9), "float32", 3)(GRID, out), lambda: RADAR.plan()(ECHOES, out)):
            with self.assertRaisesRegex(TypeError, "must be an array, not Own"):
                call()

    def test_a_session_keeps_what_it_was_given(self):
        u, k = GRID.copy(), reals(6, 9, dtype=np.float32)
        wanted = session(u, k)
        started = stencil.plan(conduct, GRID, border="periodic").start(u, k)
        u[:], k[:] = np.nan, np.nan
        started.run(3)
        np.testing.assert_array_equal(started.read(), wanted)

    def test_copies_of_our_own_arrays(self):
        held = ridge.array(GRID)
        self.assertTrue(np.shares_memory(held.__array__(), held.__array__()))
        self.assertFalse(np.shares_memory(held.__array__(copy=True), held.__array__()))
        self.assertFalse(np.shares_memory(np.array(held), held.__array__()))
        self.assertEqual(held.__array__(np.float64).dtype, np.float64)
        with self.assertRaises(ValueError):
            held.__array__(np.float64, copy=False)


if __name__ == "__main__":
    unittest.main()
