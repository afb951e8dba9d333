"""Back-projection, omega-k and autofocus of ridge.sar: point responses beside theory, on straight and bent tracks."""
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import sar

RADAR = sar.Radar(pulses=400, samples=160, pulse_s=1e-6)
DEVICES = ["host"] + [d["id"] for d in ridge.devices() if not d["id"].startswith("host")]
ROW, COLUMN = 60.37, 200.61  # between cells, in the middle, where the whole aperture is in the frame
TARGET = [(COLUMN * RADAR.along_cell, RADAR.near_range_m + ROW * RADAR.range_cell, 2.0)]


def bent():
    """Offsets along the track and towards the scene, far more than a wavelength of 0.24 m."""
    t = 2 * np.pi * np.arange(RADAR.pulses) / 300
    return np.stack([0.3 * np.cos(2 * t), 1.5 * np.sin(t)], axis=1)


class Backprojection(unittest.TestCase):
    def expect_focused(self, image, side_lobe_db=-40):
        found, ideal = RADAR.measure(image, ROW, COLUMN), RADAR.expected()
        self.assertAlmostEqual(found["range"]["position"], ROW, delta=0.05)
        self.assertAlmostEqual(found["along"]["position"], COLUMN, delta=0.05)
        for cut in ("range", "along"):
            self.assertAlmostEqual(found[cut]["width"] / ideal[cut]["width"], 1, delta=0.01)
        self.assertLessEqual(found["range"]["side_lobe_db"], -34)
        self.assertLessEqual(found["along"]["side_lobe_db"], side_lobe_db)
        self.assertAlmostEqual(found["peak"] / 2, 1, delta=0.01)

    def test_straight_and_bent_tracks(self):
        for track, side_lobe_db in ((None, -40), (bent(), -36)):
            echoes = RADAR.simulate(TARGET, track)
            for method in ("backprojection", "factorized"):
                with self.subTest(method=method, bent=track is not None):
                    plan = sar.Backprojection(RADAR, method, track)
                    image = np.full((160, 400), np.nan, np.complex64)
                    self.assertIs(plan(echoes, image), image)
                    self.expect_focused(image, side_lobe_db)
                    np.testing.assert_array_equal(RADAR.focus(echoes, method=method, track=track), image)
                    self.assertGreater(plan.updates, 1e6)
                    self.assertIn("back-projection", plan.explain())

    def test_the_track_matters(self):
        echoes = RADAR.simulate(TARGET, bent())
        for method in ("range-doppler", "backprojection", "factorized", "omega-k"):
            self.assertLess(RADAR.measure(RADAR.focus(echoes, method=method), ROW, COLUMN)["peak"] / 2, 0.7)

    def test_omega_k(self):
        self.expect_focused(RADAR.focus(RADAR.simulate(TARGET), method="omega-k"))

    def test_devices_equal_the_host(self):
        small = sar.Radar(pulses=240, samples=96, pulse_s=5e-7)
        track = 0.1 * bent()[:240]
        echoes = small.simulate([(120 * small.along_cell, small.near_range_m + 40 * small.range_cell)], track)
        for method in ("backprojection", "factorized"):
            want = sar.Backprojection(small, method, track, group=7)(echoes)
            for device in DEVICES[1:]:
                got = sar.Backprojection(small, method, track, group=7, device=device)(echoes)
                np.testing.assert_allclose(got, want, rtol=0, atol=2e-3, err_msg=f"{method} on {device}")

    def test_the_track_is_estimated(self):
        wavelength = 299792458.0 / 1.25e9
        track = np.zeros((RADAR.pulses, 2))
        track[:, 1] = 0.35 * wavelength * np.sin(2 * np.pi * np.arange(RADAR.pulses) / 170)
        targets = [(s * RADAR.pulses * RADAR.along_cell, RADAR.near_range_m + 100 * s * RADAR.range_cell) for s in (0.35, 0.5, 0.65)]
        echoes = RADAR.simulate(targets, track)

        def peak(offsets):
            return RADAR.measure(RADAR.focus(echoes, method="factorized", track=offsets), 50, 200, 8)["peak"]
        self.assertLess(peak(None), 0.75)
        self.assertGreater(peak(RADAR.autofocus(echoes)), 0.97)

    def test_mistakes(self):
        echoes = RADAR.simulate(TARGET)
        with self.assertRaisesRegex(ValueError, r"real offsets of the shape \(400, 2\).*got float64 of the shape \(400,\)"):
            sar.Backprojection(RADAR, track=np.zeros(400))
        with self.assertRaisesRegex(ValueError, "at most a tenth of the near range"):
            sar.Backprojection(RADAR, track=np.full((400, 2), 1e4))
        with self.assertRaisesRegex(ValueError, "at most a tenth of the near range"):
            sar.Backprojection(RADAR, track=np.full((400, 2), np.nan))
        with self.assertRaisesRegex(ValueError, 'method must be "backprojection" or "factorized", got \'quick\''):
            sar.Backprojection(RADAR, "quick")
        with self.assertRaisesRegex(ValueError, "omega-k assumes a straight track"):
            RADAR.focus(echoes, method="omega-k", track=bent())
        with self.assertRaisesRegex(ValueError, "method must be one of range-doppler"):
            RADAR.focus(echoes, method="rma")
        with self.assertRaisesRegex(ValueError, r"the echoes must have the shape \(400, 160\)"):
            sar.Backprojection(RADAR)(echoes[1:])


if __name__ == "__main__":
    unittest.main()
