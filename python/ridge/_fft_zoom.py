"""Chirp-z transforms: spectra on any arc, as scipy.signal.czt and scipy.signal.zoom_fft."""
import cmath
import operator

import numpy as np

from . import _ridge
from ._fft_arguments import _asarray, _axis, _threads


def _arc(x, m, start, step, radius, axis, workers):
    x, _ = _asarray(x, True)
    axis = _axis(axis, x.ndim)
    moved = np.moveaxis(x, axis, -1)
    batch = 1
    for n in moved.shape[:-1]:
        batch *= n
    out = np.empty(moved.shape[:-1] + (m,), x.dtype)
    if out.size > 0:
        _ridge.zoom(np.ascontiguousarray(moved), out, moved.shape[-1], m, float(start), float(step), float(radius), batch,
                    _threads(workers))
    return np.moveaxis(out, -1, axis)


def _count(m, x, axis):
    if m is None:
        return np.shape(x)[axis]
    m = operator.index(m)
    if m < 1:
        raise ValueError(f"m must be a positive number of values, got {m}")
    return m


def zoom(x, fn, m=None, *, fs=2, endpoint=False, axis=-1, workers=None):
    """m values of the spectrum of x between the frequencies fn = [f1, f2] (or [0, fn]), as scipy.signal.zoom_fft.

    fs: sampling rate; a frequency of fs is one cycle per sample.

    >>> x = np.exp(2j * np.pi * 0.1234 * np.arange(100))
    >>> int(np.argmax(abs(zoom(x, [0.12, 0.13], 100, fs=1))))
    34
    """
    low, high = (0.0, fn) if np.ndim(fn) == 0 else fn
    m = _count(m, x, axis)
    step = (high - low) / (m - 1 if endpoint and m > 1 else m)
    return _arc(x, m, low / fs, step / fs, 1.0, axis, workers)


def czt(x, m=None, w=None, a=1 + 0j, *, axis=-1, workers=None):
    """sum of x[n] z[k]^-n at the m points z[k] = a w^-k, as scipy.signal.czt; w must have the magnitude 1.

    >>> bool(np.allclose(czt([1.0, 2.0, 4.0]), np.fft.fft([1.0, 2.0, 4.0])))
    True
    """
    m = _count(m, x, axis)
    step = 1 / m if w is None else -cmath.phase(w) / (2 * np.pi)
    if w is not None and not abs(abs(w) - 1) < 1e-12:
        raise ValueError(f"w must have the magnitude 1, got {abs(w)}: spirals are not supported")
    return _arc(x, m, cmath.phase(a) / (2 * np.pi), step, abs(a), axis, workers)
