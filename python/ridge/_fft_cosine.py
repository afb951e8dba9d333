"""Cosine and sine transforms of types 1 to 4 with SciPy's arguments."""
import numpy as np

from . import _ridge
from ._fft_arguments import _REAL_TO_REAL, _asarray, _one, _resized, _scale, _shape_and_axes, _threads

_DCT = {1: 3, 2: 4, 3: 5, 4: 6}
_DST = {1: 7, 2: 8, 3: 9, 4: 10}
_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def _ortho(out, axes, kind, table, before):
    """What `orthogonalize` multiplies beside the common factor: the first value, of DCT-I the last one too, as SciPy does."""
    half, whole = 2.0 ** -0.5, 2.0 ** 0.5
    factor = whole if before else half
    if (kind == 1) != (table is _DCT and kind == 1) or kind == 4 or (kind == 2 and before) or (kind == 3 and not before):
        return out
    for axis in axes:
        place = [slice(None)] * out.ndim
        place[axis] = 0
        out[tuple(place)] *= factor
        if kind == 1:
            place[axis] = -1
            out[tuple(place)] *= factor
    return out


def _real_to_real(x, kind, lengths, axes, norm, orthogonalize, workers, table, inverse):
    if kind not in table:
        raise ValueError(f"invalid type {kind!r}: 1, 2, 3 or 4 are there")
    if inverse:
        kind = _INVERSE_TYPE[kind]
    if x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    if orthogonalize is None:
        orthogonalize = norm == "ortho"
    if table is _DCT and kind == 1 and any(n < 2 for n in lengths):
        raise ValueError("DCT-I is not defined for size < 2")
    points = 1
    for n in lengths:
        points *= 2 * (n - 1) if table is _DCT and kind == 1 else 2 * (n + 1) if kind == 1 else 2 * n
    scale = _scale(norm, points, inverse)
    given, x = x, _resized(x, lengths, axes)
    if not axes:
        return x.copy()
    if orthogonalize and (kind == 3 or (table is _DCT and kind == 1)):
        x = _ortho(x.copy() if x is given else x, axes, kind, table, True)
    out = np.empty(x.shape, x.dtype)
    _ridge.transform(x, out, _REAL_TO_REAL, axes, [table[kind]] * len(axes), scale, _threads(workers))
    return _ortho(out, axes, kind, table, False) if orthogonalize else out


def _parts(x, *arguments):
    """Real transforms of complex numbers are those of their parts."""
    x = _asarray(x, False)
    if x.dtype.kind != "c":
        return arguments[0](x)
    return arguments[0](x.real) + 1j * arguments[0](x.imag)


def _along(x, type, n, axis, norm, workers, orthogonalize, table, inverse):
    def one(part):
        lengths, axes = _one(part, n, axis)
        return _real_to_real(part, type, lengths, axes, norm, orthogonalize, workers, table, inverse)
    return _parts(x, one)


def _over(x, type, s, axes, norm, workers, orthogonalize, table, inverse):
    def one(part):
        lengths, which = _shape_and_axes(part, s, axes)
        return _real_to_real(part, type, lengths, which, norm, orthogonalize, workers, table, inverse)
    return _parts(x, one)


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Cosine transform of type 1 to 4 along an axis, as scipy.fft.dct.

    >>> dct([1.0, 1.0, 1.0, 1.0])
    array([8., 0., 0., 0.])
    """
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DCT, False)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """The inverse of dct."""
    return _along(x, type, n, axis, norm, workers, orthogonalize, _DCT, True)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transform of type 1 to 4 along an axis."""
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
