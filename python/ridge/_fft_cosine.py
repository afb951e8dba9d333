"""Cosine and sine transforms of types 1 to 4 with SciPy's arguments."""
import operator

import numpy as np

from . import _ridge
from ._fft_arguments import _REAL_TO_REAL, _asarray, _one, _resized, _scale, _shape_and_axes, _threads
from ._fft_device import _elsewhere, _real_on_device
from .array import asarray

_DCT = {1: 3, 2: 4, 3: 5, 4: 6}
_DST = {1: 7, 2: 8, 3: 9, 4: 10}
_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def _ends(kind, table):
    """Factors of `orthogonalize` for the first and last value, before and after the transform, as in SciPy."""
    half, whole = 2.0 ** -0.5, 2.0 ** 0.5
    if kind == 1 and table is _DCT:
        return (whole, whole), (half, half)
    return ((1, 1), (half, 1)) if kind == 2 else ((whole, 1), (1, 1)) if kind == 3 else ((1, 1), (1, 1))


def _scale_ends(x, axes, first, last):
    for axis in axes:
        for index, factor in ((0, first), (-1, last)):
            if factor != 1:
                x[(slice(None),) * axis + (index,)] *= factor
    return x


def _real_to_real(x, kind, lengths, axes, scale, before, after, workers):
    x, made = _resized(x, lengths, axes)
    if before != (1, 1):
        x = _scale_ends(x if made else x.copy(), axes, *before)
    out = np.empty(x.shape, x.dtype)
    _ridge.transform(x, out, _REAL_TO_REAL, axes, [kind] * len(axes), scale, _threads(workers))
    return _scale_ends(out, axes, *after)


def _transform(x, where, kind, norm, workers, orthogonalize, table, inverse):
    given, there = x, _elsewhere(x)
    on_device = there is not None and there.device != "host"
    x = there if on_device else _asarray(x if there is None else np.asarray(there), False)[0]
    lengths, axes = where(x)
    if not axes:
        return given
    kind = operator.index(kind)
    if kind not in table:
        raise ValueError(f"invalid type {kind!r}: use 1, 2, 3 or 4")
    if inverse:
        kind = _INVERSE_TYPE[kind]
    if table is _DCT and kind == 1 and any(n < 2 for n in lengths):
        raise ValueError("DCT-I is not defined for size < 2")
    if orthogonalize is None:
        orthogonalize = norm == "ortho"
    points = 1
    for n in lengths:
        points *= 2 * (n - 1) if table is _DCT and kind == 1 else 2 * (n + 1) if kind == 1 else 2 * n
    scale = _scale(norm, points, inverse)
    before, after = _ends(kind, table) if orthogonalize else ((1, 1), (1, 1))
    if on_device:
        return _real_on_device(x, table[kind], lengths, axes, scale, before, after)

    def one(part):
        return _real_to_real(part, table[kind], lengths, axes, scale, before, after, workers)
    if x.dtype.kind != "c":
        out = one(x)
    else:  # transforms the real and imaginary parts separately
        real = one(x.real)
        out = np.empty(real.shape, x.dtype)
        out.real, out.imag = real, one(x.imag)
    return out if there is None else asarray(out)


def _along(x, type, n, axis, norm, workers, orthogonalize, table, inverse):
    return _transform(x, lambda x: _one(x, n, axis), type, norm, workers, orthogonalize, table, inverse)


def _over(x, type, s, axes, norm, workers, orthogonalize, table, inverse):
    return _transform(x, lambda x: _shape_and_axes(x, s, axes), type, norm, workers, orthogonalize, table, inverse)


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Cosine transform (types 1 to 4) along one axis, as scipy.fft.dct.

    >>> dct([1.0, 1.0, 1.0, 1.0])
    array([8., 0., 0., 0.])
    """
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DCT, False)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The inverse of dct."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DCT, True)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transform (types 1 to 4) along one axis."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DST, False)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The inverse of dst."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DST, True)


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    """Cosine transforms along several axes."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DCT, False)


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The inverse of dctn."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DCT, True)


def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transforms along several axes."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DST, False)


def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The inverse of dstn."""
    return _over(x, type, s, axes, norm, workers, orthogonalize, _DST, True)
