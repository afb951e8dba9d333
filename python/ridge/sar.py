"""Synthetic aperture radar: echoes in, a focused image out.

>>> from ridge import sar
>>> scene = sar.Radar()
>>> echoes = scene.simulate([(500.0, 4800.0)])            # metres along the track, metres of range
>>> image = scene.focus(echoes)
>>> row, column = scene.cell(500.0, 4800.0)
>>> answer = scene.measure(image, row, column)
>>> round(answer["peak"], 2), bool(abs(answer["range"]["position"] - row) < 0.1)
(1.0, True)
"""
import numpy as np

from . import _ridge
from ._picture import Shown
from .array import device_name

__all__ = ["Radar", "Plan"]


class Plan(Shown):
    """A plan to focus frames of one shape."""

    def __init__(self, radar, device, measured):
        self.radar, self._plan = radar, _ridge.SarPlan(device_name(device), radar._problem, measured)

    @property
    def device(self):
        return self._plan.device()

    def __call__(self, echoes, out=None):
        """The image of a frame: (ranges, pulses), complex64, into out or into a new array."""
        echoes = np.ascontiguousarray(echoes)
        if out is None:
            out = np.empty((self.radar.samples, self.radar.pulses), np.complex64)
        self._plan.run(echoes, out)
        return out


class Radar:
    """A radar, its track and its frames. Echoes are (pulses, samples); images are (ranges, pulses)."""

    def __init__(self, pulses=1024, samples=1024, carrier_hz=1.25e9, bandwidth_hz=50e6, pulse_s=5e-6, sample_rate_hz=75e6,
                 pulse_rate_hz=125.0, speed_m_s=120.0, near_range_m=4000.0, beam_rad=0.1, window="hamming",
                 doppler_share=0.7, workers=None):
        self.pulses, self.samples, self.near_range_m = pulses, samples, near_range_m
        self._problem = {
            "pulses": pulses, "samples": samples, "carrier_hz": float(carrier_hz), "bandwidth_hz": float(bandwidth_hz),
            "pulse_s": float(pulse_s), "sample_rate_hz": float(sample_rate_hz), "pulse_rate_hz": float(pulse_rate_hz),
            "speed_m_s": float(speed_m_s), "near_range_m": float(near_range_m), "beam_rad": float(beam_rad),
            "window": window, "doppler_share": float(doppler_share), "threads": workers or 0,
        }
        _ridge.sar_check(self._problem)
        self.range_cell, self.along_cell, self.doppler_band = _ridge.sar_cells(self._problem)

    def cell(self, along_m, range_m):
        """Row and column of a position in the image, as floats."""
        return (range_m - self.near_range_m) / self.range_cell, along_m / self.along_cell

    def simulate(self, targets):
        """Echoes of point targets (along in metres, range in metres[, amplitude])."""
        targets = np.asarray(targets) if hasattr(targets, "__array__") or isinstance(targets, memoryview) else targets
        points = [(float(t[0]), float(t[1]), float(t[2]) if len(t) > 2 else 1.0) for t in targets]
        echoes = np.empty((self.pulses, self.samples), np.complex64)
        _ridge.sar_simulate(self._problem, points, echoes)
        return echoes

    def plan(self, device="host", measured=False):
        """A plan for many frames."""
        return Plan(self, device, measured)

    def focus(self, echoes, device="host"):
        """The image of one frame."""
        return self.plan(device)(echoes)

    def measure(self, image, row, column, reach=3):
        """The point response of the brightest point near a cell: peak, and position, width and side lobes in both directions."""
        return _ridge.sar_measure(self._problem, np.ascontiguousarray(image), row, column, reach)

    def expected(self):
        """The point response expected by theory."""
        return _ridge.sar_expected(self._problem)
