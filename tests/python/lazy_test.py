"""Tests ridge.dask and ridge.xarray: values, laziness, chunks, coordinates, errors. Skipped without either library."""
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import dask.array as da
except ImportError as missing:
    da = None
try:
    import xarray
except ImportError as missing:
    xarray = None
if da is None and xarray is None:
    print("skipped: needs python3-dask or python3-xarray")
    sys.exit(77)

import ridge

random = np.random.default_rng(5)


@unittest.skipIf(da is None, "needs python3-dask")
class Dask(unittest.TestCase):
    def test_values_chunks_and_laziness(self):
        import ridge.dask
        x = random.standard_normal((6, 10, 9))
        calls = (("fft", {}), ("rfft", {"n": 7, "axis": 1}), ("irfft", {"axis": 2}), ("irfft", {"n": 13}), ("fftn", {"axes": (1, 2)}),
                 ("rfftn", {"s": (4, 6), "axes": (1, 2)}), ("hfft", {}), ("ihfft", {"axis": 1}), ("dct", {"type": 3, "norm": "ortho"}),
                 ("dstn", {"axes": (1, 2)}), ("ifft2", {}), ("irfft2", {}))
        for name, how in calls:
            lazy = da.from_array(x, chunks=(2, 10, 9))
            want = getattr(ridge.fft, name)(x, **how)
            for got in (getattr(ridge.dask, name)(lazy, **how), getattr(ridge.fft, name)(lazy, **how)):
                self.assertIsInstance(got, da.Array)
                self.assertEqual((got.shape, got.dtype, got.numblocks[0]), (want.shape, want.dtype, 3), name)
                np.testing.assert_allclose(got.compute(), want, atol=1e-12, err_msg=name)

    def test_refusals(self):
        import ridge.dask
        lazy = da.ones((4, 8), chunks=(4, 4))
        with self.assertRaisesRegex(ValueError, r"x\.rechunk\(\{1: -1\}\)"):
            ridge.fft.fft(lazy)
        self.assertEqual(ridge.fft.fft(lazy.rechunk({1: -1})).compute()[0, 0], 8)
        self.assertRaises(TypeError, ridge.dask.fft, np.ones(4))
        computed = []
        ridge.dask.fft(da.map_blocks(lambda: computed.append(1) or np.ones(4), chunks=((4,),), dtype=float, meta=np.empty(0)))
        self.assertEqual(computed, [])

    def test_filter_bank_over_chunks(self):
        import ridge.dask
        x = (random.standard_normal(8 * 60) + 1j * random.standard_normal(8 * 60)).astype(np.complex64)
        want = ridge.filterbank.plan(channels=8, taps=4, polarizations=1, samples="float32").stream().push(x)[:, 0, 0]
        got = ridge.dask.channelize(da.from_array(x, chunks=8 * 20), 8, 4)
        self.assertEqual((got.shape, got.chunks[0]), ((60, 8), (20, 20, 20)))
        np.testing.assert_allclose(got.compute(), want, atol=1e-5)
        with self.assertRaisesRegex(ValueError, "multiple of 8"):
            ridge.dask.channelize(da.from_array(x, chunks=12), 8, 4)
        streams = np.stack([x, 2 * x, x[::-1]]).reshape(3, 1, 480)
        got = ridge.dask.channelize(da.from_array(streams, chunks=(2, 1, 160)), 8, 4)
        self.assertEqual((got.shape, got.chunks[0]), ((3, 1, 60, 8), (2, 1)))
        np.testing.assert_allclose(got.compute()[1, 0], 2 * want, atol=2e-5)


@unittest.skipIf(xarray is None, "needs python3-xarray")
class Xarray(unittest.TestCase):
    def test_frequencies_are_coordinates(self):
        import ridge.xarray
        values = random.standard_normal((3, 20))
        a = xarray.DataArray(values, dims=("station", "time"), coords={"station": list("abc"), "time": np.arange(20) * 0.25}, name="v")
        for name, frequencies in (("fft", np.fft.fftfreq(20, 0.25)), ("rfft", np.fft.rfftfreq(20, 0.25))):
            got = getattr(ridge.xarray, name)(a, dim="time")
            self.assertEqual((got.dims, got.name, list(got.coords["station"].values)), (("station", "freq_time"), "v", list("abc")))
            np.testing.assert_allclose(got.coords["freq_time"], frequencies)
            np.testing.assert_allclose(got.values, getattr(np.fft, name)(values))
            back = getattr(ridge.xarray, "i" + name)(got, dim="freq_time")
            self.assertEqual(back.dims, ("station", "time"))
            np.testing.assert_allclose(back.values, values, atol=1e-12)
            np.testing.assert_allclose(back.coords["time"], a.coords["time"])

    def test_filter_bank(self):
        import ridge.xarray
        x = (random.standard_normal((480, 2)) + 1j * random.standard_normal((480, 2))).astype(np.complex64)
        a = xarray.DataArray(x, dims=("time", "station"), coords={"time": np.arange(480) * 0.5, "station": ["a", "b"]}, name="v")
        bank = ridge.filterbank.plan(channels=8, taps=4, polarizations=1, samples="float32")
        for b in (a,) if da is None else (a, a.chunk({"time": 160})):
            got = ridge.xarray.channelize(b, "time", 8, 4)
            self.assertEqual((got.dims, got.shape, got.name), (("station", "time", "freq_time"), (2, 60, 8), "v"))
            np.testing.assert_allclose(got.coords["time"], np.arange(60) * 4.0)
            np.testing.assert_allclose(got.coords["freq_time"], np.fft.fftfreq(8, 0.5))
            np.testing.assert_allclose(got.sel(station="b").values, bank.stream().push(np.ascontiguousarray(x[:, 1]))[:, 0, 0], atol=1e-5)
        with self.assertRaisesRegex(ValueError, "multiple of 7 samples along 'time'"):
            ridge.xarray.channelize(a, "time", 7, 4)

    def test_times_and_refusals(self):
        import ridge.xarray
        times = np.datetime64("2026-01-01") + np.arange(8) * np.timedelta64(500, "ms")
        a = xarray.DataArray(np.ones(8), dims="t", coords={"t": times})
        np.testing.assert_allclose(ridge.xarray.fft(a, "t").coords["freq_t"], np.fft.fftfreq(8, 0.5))
        with self.assertRaisesRegex(ValueError, "no dimension 'x'"):
            ridge.xarray.fft(a, "x")
        uneven = xarray.DataArray(np.ones(3), dims="t", coords={"t": [0.0, 1.0, 3.0]})
        with self.assertRaisesRegex(ValueError, "not evenly spaced"):
            ridge.xarray.fft(uneven, "t")


if __name__ == "__main__":
    unittest.main()
