"""Compares zooms, chirp-z transforms and padded transforms of ridge.fft with NumPy."""
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from ridge import fft

random = np.random.default_rng(7)


def complexes(*shape):
    return random.standard_normal(shape) + 1j * random.standard_normal(shape)


class Arcs(unittest.TestCase):
    def test_zoom_is_its_sum(self):
        for n, m, axis in ((1, 1, -1), (30, 7, 0), (64, 100, -1), (101, 3, 1)):
            shape = [3, 4]
            shape.insert(axis if axis >= 0 else 2, n)
            x = complexes(*shape)
            for endpoint in (False, True):
                f = np.linspace(0.3, 0.9, m, endpoint=endpoint)
                kernel = np.exp(-2j * np.pi * np.outer(np.arange(n), f) / 2.5)
                want = np.moveaxis(np.moveaxis(x, axis, -1) @ kernel, -1, axis)
                np.testing.assert_allclose(fft.zoom(x, [0.3, 0.9], m, fs=2.5, endpoint=endpoint, axis=axis), want, atol=1e-11)
        single = fft.zoom(complexes(8).astype(np.complex64), 1.0)
        self.assertEqual((single.dtype, single.shape), (np.complex64, (8,)))

    def test_czt(self):
        x = complexes(5, 20)
        np.testing.assert_allclose(fft.czt(x), np.fft.fft(x), atol=1e-11)
        w, a = np.exp(-0.07j), 1.02 * np.exp(0.4j)
        z = a * w ** -np.arange(9.0)
        np.testing.assert_allclose(fft.czt(x, 9, w, a), x @ z[None, :] ** -np.arange(20.0)[:, None], atol=1e-11)

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "m must be a positive number of values, got 0"):
            fft.zoom([1.0], 1.0, 0)
        with self.assertRaisesRegex(ValueError, "w must have the magnitude 1, got 0.5"):
            fft.czt([1.0, 2.0], w=0.5)
        with self.assertRaisesRegex(ValueError, "finite arc"):
            fft.zoom([1.0, 2.0], [0, np.inf])


class Padded(unittest.TestCase):
    def test_padded_and_cut_axes(self):
        x = complexes(6, 5, 7)
        for s, axes in (((12, 9), (0, 2)), ((9, 12), (2, 0)), ((8, 5, 16), (0, 1, 2)), ((3, 20), (0, 1)), ((20, 3), (1, 2)), ((11,), (1,))):
            for norm in ("backward", "ortho", "forward"):
                np.testing.assert_allclose(fft.fftn(x, s, axes, norm=norm), np.fft.fftn(x, s, axes, norm=norm), atol=1e-12)
                np.testing.assert_allclose(fft.ifftn(x, s, axes, norm=norm), np.fft.ifftn(x, s, axes, norm=norm), atol=1e-12)
                np.testing.assert_allclose(fft.rfftn(x.real, s, axes, norm=norm), np.fft.rfftn(x.real, s, axes, norm=norm), atol=1e-12)


if __name__ == "__main__":
    unittest.main()
