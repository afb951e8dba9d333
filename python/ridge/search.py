"""Dispersed pulses, pulsars and beams. Power is an array (times, channels) of uint8, uint16 or float32; other real types are converted
to float32.

>>> import numpy as np
>>> from ridge import search
>>> band = search.Band(first_mhz=1500, step_mhz=-0.5, interval=1e-3)
>>> power = search.simulate(band, times=20000, channels=256, pulses=[(50, 2.0, 4, 20)])   # DM, seconds, samples, S/N
>>> found = search.find(power, band, dm=(0, 100))
>>> len(found), abs(found[0]["dm"] - 50) < 5, abs(found[0]["time"] - 2.002) < 0.005
(1, True, True)

Voltages are complex64 arrays:

>>> weights = search.beam_weights([[0, 0, 0], [10, 0, 0]], [[0, 0, 1]], channels_mhz=1400)      # two stations, the zenith
>>> search.beamform(np.ones((1, 8, 2)), weights, integrate=4).tolist()
[[[4.0, 4.0]]]
>>> clean = search.dedisperse(np.ones(10000), dm=1, centre_mhz=1400, rate_mhz=6.25)
>>> bool(abs(clean[5000] - 1) < 1e-4)
True
"""
from dataclasses import asdict, dataclass

import numpy as np

from . import _ridge
from .array import device_name

__all__ = ["Band", "simulate", "find", "fold", "periods", "dedisperse", "beam_weights", "beamform"]


@dataclass(frozen=True)
class Band:
    """Centre of the first channel and step to the next, MHz; seconds per sample."""
    first_mhz: float
    step_mhz: float
    interval: float


def _rows(power):
    rows = np.asarray(power)
    if rows.dtype not in (np.uint8, np.uint16, np.float32) and rows.dtype.kind in "fiu":
        rows = rows.astype(np.float32)
    return np.ascontiguousarray(rows)


def _fields(band):
    if not isinstance(band, Band):
        raise TypeError(f"band must be a search.Band, got {type(band).__name__}")
    if not abs(band.first_mhz) <= 1e7:
        raise ValueError(f"first_mhz is in MHz, got {band.first_mhz:g}")
    return asdict(band)


def _pair(value, name):
    try:
        first, last = (value, value) if np.ndim(value) == 0 else value
        return float(first), float(last)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or two numbers, got {value!r}") from None


def simulate(band, times, channels, pulses=(), dtype=np.uint8, seed=1):
    """Noise with pulses (DM, seconds, samples, S/N) of boxcar shape."""
    power = np.empty((times, channels), dtype)
    _ridge.search_simulate(power, _fields(band), [tuple(pulse) for pulse in pulses], seed)
    return power


def find(power, band, dm=(0, 1000), threshold=7, tolerance=1.05, widest=256, flag=0, device="host", variant="", workers=None):
    """Candidates as dicts with dm, time, snr, width and more, in the order of time. flag: first limit of SumThreshold in sigma, 0 for off."""
    dm_begin, dm_end = _pair(dm, "dm")
    settings = {"dm_begin": dm_begin, "dm_end": dm_end, "threshold": float(threshold), "tolerance": float(tolerance),
                "widest": widest, "flag": float(flag), "threads": workers or 0}
    return _ridge.search_find(device_name(device), _rows(power), _fields(band), settings, variant)


def fold(power, band, period, pdot=0.0, dm=0.0, bins=256, subbands=1):
    """The mean pulse, (subbands, bins), and its S/N. The period is that of the first sample."""
    if not period > 0:
        raise ValueError(f"the period must be above 0, got {period}")
    profile = np.empty((subbands, bins))
    rotation = {"frequency": 1 / period, "derivative": -pdot / period**2, "dm": float(dm)}
    return profile, _ridge.search_fold(_rows(power), _fields(band), rotation, profile)


def periods(power, band, dm=0.0, acceleration=(0, 0), harmonics=16, threshold=6, device="host"):
    """Periodic signals as dicts with period, frequency, acceleration, sigma and harmonics, the strongest first."""
    first, last = _pair(acceleration, "acceleration")
    settings = {"acceleration_begin": first, "acceleration_end": last, "harmonics": harmonics,
                "threshold": float(threshold), "dm": float(dm)}
    return _ridge.search_periods(device_name(device), _rows(power), _fields(band), settings)


def dedisperse(voltages, dm, centre_mhz, rate_mhz, taper=0.02, length=0, device="host"):
    """Coherently dedispersed voltages of one band, complex64. A negative rate is an inverted band; `length` is the number of
    points per transform (0: chosen)."""
    samples = np.ascontiguousarray(voltages, np.complex64)
    if samples.ndim != 1:
        raise ValueError(f"the voltages must have one axis, got {samples.ndim}")
    out = np.empty_like(samples)
    _ridge.search_dedisperse(device_name(device), samples, {"dm": float(dm), "centre_mhz": float(centre_mhz), "rate_mhz": float(rate_mhz),
                                               "taper": float(taper), "length": int(length)}, out)
    return out


def beam_weights(positions, directions, channels_mhz):
    """Weights that add up a plane wave from each direction, (channels, beams, stations): positions in metres, (stations, 3);
    directions as unit vectors towards the sources, (beams, 3)."""
    positions, directions = (np.ascontiguousarray(x, np.float64) for x in (positions, directions))
    channels = np.ascontiguousarray(np.atleast_1d(channels_mhz), np.float64)
    out = np.empty((len(channels), len(directions), len(positions)), np.complex64)
    _ridge.search_beam_weights(positions, directions, channels, out)
    return out


def beamform(voltages, weights, integrate=1, incoherent=False, device="host", arithmetic="float32", scale=1.0):
    """Power of beams, (channels, beams, times // integrate), from voltages (channels, times, stations) and weights (channels,
    beams, stations) or (beams, stations). `incoherent` adds a last beam, the sum of the stations' own powers.

    arithmetic="float16" and "int8" round voltages times `scale`, and the weights; a device multiplies them on its matrix
    units. Voltages may also be int8 with a last axis of 2, the real and imaginary parts: "int8" uses these bytes as they are."""
    samples = np.asarray(voltages)
    if samples.dtype == np.int8 and samples.ndim == 4 and samples.shape[3] == 2 and arithmetic == "int8":
        samples = np.ascontiguousarray(samples).view(np.uint8)
    elif samples.dtype == np.int8 and samples.ndim == 4 and samples.shape[3] == 2:
        samples = np.ascontiguousarray(samples, np.float32).view(np.complex64)[..., 0]
    else:
        samples = np.ascontiguousarray(samples, np.complex64)
        if samples.ndim != 3:
            raise ValueError(f"the voltages must have the shape (channels, times, stations), got {samples.ndim} axes")
    factors = np.asarray(weights, np.complex64)
    if factors.ndim == 2:
        factors = np.broadcast_to(factors, (len(samples), *factors.shape))
    if factors.ndim != 3:
        raise ValueError(f"the weights must have two or three axes, got {factors.ndim}")
    integrate = int(integrate)
    if integrate < 1:
        raise ValueError(f"integrate must be at least 1, got {integrate}")
    out = np.empty((len(samples), factors.shape[1] + bool(incoherent), samples.shape[1] // integrate), np.float32)
    _ridge.search_beamform(device_name(device), samples, np.ascontiguousarray(factors),
                           {"integrate": integrate, "incoherent": bool(incoherent), "arithmetic": str(arithmetic), "scale": float(scale)}, out)
    return out
