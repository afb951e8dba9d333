"""Cosine and sine transforms of types 1 to 4 with SciPy's arguments."""
import operator

import numpy as np

from . import _ridge
from ._fft_arguments import _REAL_TO_REAL, _asarray, _one, _resized, _scale, _shape_and_axes, _threads
from ._fft_device import _elsewhere, _real_on_device
from ._fft_through import _is_elsewhere, _real_through, _same_device
from .array import asarray

_DCT = {1: 3, 2: 4, 3: 5, 4: 6}
_DST = {1: 7, 2: 8, 3: 9, 4: 10}
_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def _ends(kind, table):
    """Factors of `orthogonalize`: of the first and the last value before the transform, and after it; () if all are 1.

    Sine transforms of types 2 and 3 scale the last value, which makes them orthogonal: as SciPy from 1.12 on.
    """
    half, whole = 2.0 ** -0.5, 2.0 ** 0.5
    if table is _DCT:
        return {1: (whole, whole, half, half), 2: (1.0, 1.0, half, 1.0), 3: (whole, 1.0, 1.0, 1.0)}.get(kind, ())
    return {2: (1.0, 1.0, 1.0, half), 3: (1.0, whole, 1.0, 1.0)}.get(kind, ())


def _problem(lengths, kind, norm, orthogonalize, table, inverse):
    """Kind of the transform that runs, its scale and its ends."""
    if kind not in table:
        raise ValueError(f"invalid type {kind!r}: use 1, 2, 3 or 4")
    if inverse:
        kind = _INVERSE_TYPE[kind]
    if table is _DCT and kind == 1 and any(n < 2 for n in lengths):
        raise ValueError("DCT-I is not defined for size < 2")
    points = 1
    for n in lengths:
        points *= 2 * (n - 1) if table is _DCT and kind == 1 else 2 * (n + 1) if kind == 1 else 2 * n
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    return table[kind], _scale(norm, points, inverse), _ends(kind, table) if orthogonalize else ()


def _real_to_real(x, kind, lengths, axes, scale, ends, workers):
    x, _ = _resized(x, lengths, axes)
    out = np.empty(x.shape, x.dtype)
    _ridge.transform(x, out, _REAL_TO_REAL, axes, [kind] * len(axes), scale, _threads(workers), False, ends)
    return out


def _transform(x, where, kind, norm, workers, orthogonalize, table, inverse, device):
    given, there = x, _elsewhere(x)
    on_device = there is not None and there.device != "host"
    if there is not None:
        _same_device(there, device)
    x = there if on_device else _asarray(x if there is None else np.asarray(there), False)[0]
    lengths, axes = where(x)
    if not axes:
        return given
    kind, scale, ends = _problem(lengths, operator.index(kind), norm, orthogonalize, table, inverse)
    if on_device:
        return _real_on_device(x, kind, lengths, axes, scale, ends)
    if _is_elsewhere(device):
        return _real_through(x, kind, lengths, axes, scale, ends, device)

    def one(part):
        return _real_to_real(part, kind, lengths, axes, scale, ends, workers)
    if x.dtype.kind != "c":
        out = one(x)
    else:  # transforms the real and imaginary parts separately
        real = one(x.real)
        out = np.empty(real.shape, x.dtype)
        out.real, out.imag = real, one(x.imag)
    return out if there is None else asarray(out)


def _along(x, type, n, axis, norm, workers, orthogonalize, table, inverse, device):
    return _transform(x, lambda x: _one(x, n, axis), type, norm, workers, orthogonalize, table, inverse, device)


def _over(x, type, s, axes, norm, workers, orthogonalize, table, inverse, device):
    return _transform(x, lambda x: _shape_and_axes(x, s, axes), type, norm, workers, orthogonalize, table, inverse, device)


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """Cosine transform (types 1 to 4) along one axis, as scipy.fft.dct.

    >>> dct([1.0, 1.0, 1.0, 1.0])
    array([8., 0., 0., 0.])
    """
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DCT, False, device)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """The inverse of dct."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DCT, True, device)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """Sine transform (types 1 to 4) along one axis."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DST, False, device)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """The inverse of dst."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DST, True, device)


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None, device=None):
    """Cosine transforms along several axes."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DCT, False, device)


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """The inverse of dctn."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DCT, True, device)


def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """Sine transforms along several axes."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DST, False, device)


def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None, *, device=None):
    """The inverse of dstn."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DST, True, device)
