"""Dispersed pulses and pulsars in filterbank data: arrays of power, (times, channels), uint8, uint16 or float32.

>>> from ridge import search
>>> band = search.Band(first_mhz=1500, step_mhz=-0.5, interval=1e-3)
>>> power = search.simulate(band, times=20000, channels=256, pulses=[(50, 2.0, 4, 20)])   # DM, seconds, samples, S/N
>>> found = search.find(power, band, dm=(0, 100))
>>> len(found), abs(found[0]["dm"] - 50) < 5, abs(found[0]["time"] - 2.002) < 0.005
(1, True, True)
"""
from dataclasses import asdict, dataclass

import numpy as np

from . import _ridge

__all__ = ["Band", "simulate", "find", "fold", "periods"]


@dataclass(frozen=True)
class Band:
    """Centre of the first channel and step to the next, MHz; seconds per sample."""
    first_mhz: float
    step_mhz: float
    interval: float


def _rows(power):
    return np.ascontiguousarray(power)


def simulate(band, times, channels, pulses=(), dtype=np.uint8, seed=1):
    """Noise with pulses (DM, seconds, samples, S/N) of boxcar shape."""
    power = np.empty((times, channels), dtype)
    _ridge.search_simulate(power, asdict(band), [tuple(pulse) for pulse in pulses], seed)
    return power


def find(power, band, dm=(0, 1000), threshold=7, tolerance=1.05, widest=256, flag=0, device="host", variant="", workers=None):
    """Candidates as dicts with dm, time, snr, width and more, in the order of time. flag: first limit of SumThreshold in sigma, 0 for off."""
    settings = {"dm_begin": float(dm[0]), "dm_end": float(dm[1]), "threshold": float(threshold), "tolerance": float(tolerance),
                "widest": widest, "flag": float(flag), "threads": workers or 0}
    return _ridge.search_find(device, _rows(power), asdict(band), settings, variant)


def fold(power, band, period, pdot=0.0, dm=0.0, bins=256, subbands=1):
    """The mean pulse, (subbands, bins), and its S/N. The period is that of the first sample."""
    if not period > 0:
        raise ValueError(f"the period must be above 0, got {period}")
    profile = np.empty((subbands, bins))
    rotation = {"frequency": 1 / period, "derivative": -pdot / period**2, "dm": float(dm)}
    return profile, _ridge.search_fold(_rows(power), asdict(band), rotation, profile)


def periods(power, band, dm=0.0, acceleration=(0, 0), harmonics=16, threshold=6, device="host"):
    """Periodic signals as dicts with period, frequency, acceleration, sigma and harmonics, the strongest first."""
    settings = {"acceleration_begin": float(acceleration[0]), "acceleration_end": float(acceleration[1]), "harmonics": harmonics,
                "threshold": float(threshold), "dm": float(dm)}
    return _ridge.search_periods(device, _rows(power), asdict(band), settings)
