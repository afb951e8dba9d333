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
from ._pickled import Pickled
from ._picture import Shown
from .array import device_name

__all__ = ["Radar", "Plan", "Backprojection"]

_METHODS = ("range-doppler", "backprojection", "factorized", "omega-k")


def _offsets(track, pulses):
    """Offsets as pairs; none for None."""
    if track is None:
        return []
    track = np.asarray(track)
    if track.shape != (pulses, 2) or track.dtype.kind not in "fiu":
        raise ValueError(f"the track needs real offsets of the shape ({pulses}, 2), along the track and towards the scene in metres, got "
                         f"{track.dtype} of the shape {track.shape}")
    return [(float(along), float(across)) for along, across in track]


class _Focus(Pickled):
    """Focuses frames of one shape."""

    def __call__(self, echoes, out=None):
        """The image of a frame: (ranges, pulses), complex64, into out or into a new array."""
        echoes = np.ascontiguousarray(echoes)
        if out is None:
            out = np.empty((self.radar.samples, self.radar.pulses), np.complex64)
        self._plan.run(echoes, out)
        return out

    def explain(self):
        return self._plan.explain()


class Backprojection(_Focus):
    """Focuses frames of any track: every pixel is the sum of the echoes of its pulses at its distance.

    method: "backprojection" (every pulse to every pixel) or "factorized" (groups of pulses, merged level by level). track: offsets of the
    platform from the straight line per pulse, (pulses, 2): along the track and towards the scene, in metres. group: pulses per group of
    the first level; 0: the cheapest.
    """

    def __init__(self, radar, method="factorized", track=None, *, group=0, device="host"):
        if method not in _METHODS[1:3]:
            raise ValueError(f'method must be "backprojection" or "factorized", got {method!r}')
        self.radar, self.method, self.device = radar, method, device_name(device)
        self._plan = _ridge.SarBackprojection(self.device, radar._problem, method == "factorized", _offsets(track, radar.pulses), group)

    @property
    def updates(self):
        """Pixels times pulses of their apertures: the updates of the direct method."""
        return self._plan.updates()


class _OmegaK(_Focus):
    def __init__(self, radar):
        self.radar, self._plan = radar, _ridge.SarOmegaK(radar._problem)


class Plan(_Focus, Shown):
    """A plan to focus frames of one shape by the range-Doppler algorithm."""

    def __init__(self, radar, device, measured):
        self.radar, self._plan = radar, _ridge.SarPlan(device_name(device), radar._problem, measured)

    @property
    def device(self):
        return self._plan.device()


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

    def simulate(self, targets, track=None):
        """Echoes of point targets (along in metres, range in metres[, amplitude]); track: as of Backprojection."""
        targets = np.asarray(targets) if hasattr(targets, "__array__") or isinstance(targets, memoryview) else targets
        points = [(float(t[0]), float(t[1]), float(t[2]) if len(t) > 2 else 1.0) for t in targets]
        echoes = np.empty((self.pulses, self.samples), np.complex64)
        _ridge.sar_simulate(self._problem, points, _offsets(track, self.pulses), echoes)
        return echoes

    def plan(self, device="host", measured=False):
        """A plan for many frames."""
        return Plan(self, device, measured)

    def focus(self, echoes, device="host", *, method="range-doppler", track=None):
        """The image of one frame. method: "range-doppler", "backprojection" (direct), "factorized" (both of any track, as of
        Backprojection), or "omega-k" (exact for a straight track, on the host)."""
        if method not in _METHODS:
            raise ValueError(f"method must be one of {', '.join(_METHODS)}, got {method!r}")
        if method in _METHODS[1:3]:
            return Backprojection(self, method, track, device=device)(echoes)
        if track is not None:
            raise ValueError(f'{method} assumes a straight track: use method="backprojection" or "factorized"')
        if method == "range-doppler":
            return self.plan(device)(echoes)
        if device_name(device) != "host":
            raise ValueError(f'omega-k needs device="host", got {device!r}')
        return _OmegaK(self)(echoes)

    def autofocus(self, echoes, iterations=4, targets=32):
        """The track estimated from the brightest points of the scene by phase gradients: offsets towards the scene, (pulses, 2).

        A constant offset and a linear trend are not estimated; offsets must be smaller than a range cell.
        """
        return np.array(_ridge.sar_autofocus(self._problem, np.ascontiguousarray(echoes), iterations, targets))

    def measure(self, image, row, column, reach=3):
        """The point response of the brightest point near a cell: peak, and position, width and side lobes in both directions."""
        return _ridge.sar_measure(self._problem, np.ascontiguousarray(image), row, column, reach)

    def expected(self):
        """The point response expected by theory."""
        return _ridge.sar_expected(self._problem)
