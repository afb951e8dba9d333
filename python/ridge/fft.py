"""Discrete Fourier, cosine and sine transforms with the names, arguments and errors of scipy.fft.

The module itself is a back end of SciPy's:

    import scipy.fft, ridge.fft
    ridge.fft.register()                      # or: with scipy.fft.set_backend(ridge.fft): ...

Arrays of any strides are taken as they lie. A ridge.Array on a device is transformed there, over its last axes. float16 becomes complex64, float32 and float64 keep their precision, integers
become double.

>>> import numpy as np
>>> np.allclose(ifft(fft([1.0, 2.0, 4.0])), [1, 2, 4])
True
>>> np.round(dct([1.0, 2.0, 4.0], norm="ortho"), 3)
array([ 4.041, -2.121,  0.408])
"""
import functools
import operator
import os

import numpy as np

from . import _ridge
from ._picture import Shown
from .array import Array, asarray, empty

__all__ = [
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn",
    "hfft", "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn", "dct", "idct", "dctn", "idctn", "dst", "idst", "dstn", "idstn",
    "fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "plan", "Plan", "register", "set_workers",
    "get_workers",
]

_FORWARD, _INVERSE, _REAL_FORWARD, _REAL_INVERSE, _REAL_TO_REAL = range(5)
_DCT = {1: 3, 2: 4, 3: 5, 4: 6}
_DST = {1: 7, 2: 8, 3: 9, 4: 10}
_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}
_COMPLEX = {np.dtype(np.float32): np.dtype(np.complex64), np.dtype(np.complex64): np.dtype(np.complex64)}
_REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.float32): np.dtype(np.float32)}
_workers = 1


def set_workers(workers):
    """How many threads a call uses that is not told; returns a context manager's worth: the number before."""
    global _workers
    before, _workers = _workers, _threads(workers)
    return before


def get_workers():
    """How many threads a call uses that is not told."""
    return _workers


def _threads(workers):
    if workers is None:
        return _workers
    workers = operator.index(workers)
    cores = os.cpu_count() or 1
    if workers < 0:
        if workers < -cores:
            raise ValueError(f"workers value out of range; got {workers}, must not be less than {-cores}")
        return workers + 1 + cores
    if workers == 0:
        raise ValueError("workers must not be zero")
    return workers


def _asarray(x, complex_wanted):
    """The array in a type we transform. Long double is declined: NotImplementedError."""
    x = np.asarray(x)
    kind, size = x.dtype.kind, x.dtype.itemsize
    if (kind == "f" and size > 8) or (kind == "c" and size > 16):
        raise NotImplementedError("long double is not transformed here")
    if kind == "f":
        wanted = np.float32 if size <= 4 else np.float64
    elif kind == "c":
        wanted = np.complex64 if size == 8 else np.complex128
    elif kind in "biu":
        wanted = np.float64
    else:
        raise TypeError(f"cannot transform an array of type {x.dtype}")
    wanted = np.dtype(wanted)
    if complex_wanted:
        wanted = _COMPLEX.get(wanted, np.dtype(np.complex128))
    if x.dtype != wanted or not x.dtype.isnative:
        return x.astype(wanted)
    if not x.flags.aligned or any(s % x.itemsize for s in x.strides):
        return x.copy()
    return x


def _axis(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for array of dimension {ndim}") if ndim else ValueError(
            "axes exceeds dimensionality of input")
    return axis % ndim


def _shape_and_axes(x, s, axes, halved=False):
    """The lengths along the transformed axes, and those axes."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [operator.index(axes)] if not np.iterable(axes) else [operator.index(a) for a in axes]
    for a in axes:
        if not -x.ndim <= a < x.ndim:
            raise ValueError("axes exceeds dimensionality of input")
    axes = [a % x.ndim for a in axes]
    if len(set(axes)) != len(axes):
        raise ValueError("all axes must be unique")
    if s is None:
        lengths = [x.shape[a] for a in axes]
        if halved and lengths:
            lengths[-1] = 2 * (lengths[-1] - 1)
    else:
        s = [operator.index(n) for n in (s if np.iterable(s) else [s])]
        if len(s) != len(axes):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        lengths = [x.shape[a] if n == -1 else n for n, a in zip(s, axes)]
    if any(n < 1 for n in lengths):
        raise ValueError(f"invalid number of data points ({lengths}) specified")
    return lengths, axes


def _resized(x, lengths, axes):
    """Cut, or padded with zeros, along some axes."""
    if all(x.shape[a] == n for n, a in zip(lengths, axes)):
        return x
    cut = [slice(None)] * x.ndim
    shape = list(x.shape)
    for n, a in zip(lengths, axes):
        cut[a] = slice(0, min(n, x.shape[a]))
        shape[a] = n
    x = x[tuple(cut)]
    if list(x.shape) == shape:
        return x
    padded = np.zeros(shape, x.dtype)
    padded[tuple(slice(0, n) for n in x.shape)] = x
    return padded


_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def _scale(norm, points, inverse):
    try:
        which = _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"') from None
    if which == 1:
        return 1.0 / float(points) ** 0.5
    return 1.0 / points if (which == 2) != inverse else 1.0


def _product(lengths):
    product = 1
    for n in lengths:
        product *= n
    return product


def _complex(x, s, axes, norm, overwrite_x, workers, inverse):
    given, x = x, _asarray(x, True)
    lengths, axes = _shape_and_axes(x, s, axes)
    return _complex_of(given, x, lengths, axes, norm, overwrite_x, workers, inverse)


def _complex_of(given, x, lengths, axes, norm, overwrite_x, workers, inverse):
    scale = _scale(norm, _product(lengths), inverse)
    resized = _resized(x, lengths, axes)
    if not axes:
        return resized.copy()
    own = resized is not given and resized.base is None  # made here: may be written over
    in_place = (overwrite_x or own) and resized.flags.writeable and (own or resized is given)
    out = resized if in_place else np.empty(resized.shape, resized.dtype)
    _ridge.transform(resized, out, _INVERSE if inverse else _FORWARD, axes, (), scale, _threads(workers))
    return out


def _real_forward(x, lengths, axes, norm, workers, inverse=False):
    if x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    scale = _scale(norm, _product(lengths), inverse)
    x = _resized(x, lengths, axes)
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1] // 2 + 1
    out = np.empty(shape, _COMPLEX.get(x.dtype, np.dtype(np.complex128)))
    _ridge.transform(x, out, _REAL_FORWARD, axes, (), scale, _threads(workers))
    return out


def _real_inverse(x, lengths, axes, norm, workers, inverse=True):
    scale = _scale(norm, _product(lengths), inverse)
    x = _resized(x, [*lengths[:-1], lengths[-1] // 2 + 1], axes)
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1]
    out = np.empty(shape, _REAL.get(x.dtype, np.dtype(np.float64)))
    _ridge.transform(x, out, _REAL_INVERSE, axes, (), scale, _threads(workers))
    return out


def _one(x, n, axis, halved=False):
    """Length and axis of a transform along one axis."""
    axis = _axis(axis, x.ndim)
    if n is None:
        n = 2 * (x.shape[axis] - 1) if halved else x.shape[axis]
    else:
        n = operator.index(n)
    if n < 1:
        raise ValueError(f"invalid number of data points ({n}) specified")
    return [n], [axis]


def _no_plan(plan):
    if plan is not None:
        raise NotImplementedError("passing a precomputed plan is not supported: use ridge.fft.plan")


def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """One-dimensional transform along an axis, as scipy.fft.fft.

    >>> fft([1, 0, 0, 0]).real
    array([1., 1., 1., 1.])
    """
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, n, axis, norm, False, False)
    given, x = x, _asarray(x, True)
    return _complex_of(given, x, *_one(x, n, axis), norm, overwrite_x, workers, False)


def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of fft."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, n, axis, norm, False, True)
    given, x = x, _asarray(x, True)
    return _complex_of(given, x, *_one(x, n, axis), norm, overwrite_x, workers, True)


def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Transform over two axes."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, s, axes, norm, False, False)
    return _complex(x, s, axes, norm, overwrite_x, workers, False)


def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of fft2."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, s, axes, norm, False, True)
    return _complex(x, s, axes, norm, overwrite_x, workers, True)


def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Transform over any number of axes."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, s, axes, norm, False, False)
    return _complex(x, s, axes, norm, overwrite_x, workers, False)


def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of fftn."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, s, axes, norm, False, True)
    return _complex(x, s, axes, norm, overwrite_x, workers, True)


def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Real samples to the n//2+1 first values of their spectrum.

    >>> rfft([1.0, 0.0, 0.0, 0.0]).real
    array([1., 1., 1.])
    """
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, n, axis, norm, True, False)
    x = _asarray(x, False)
    return _real_forward(x, *_one(x, n, axis), norm, workers)


def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of rfft; n is the number of samples, 2*(m-1) unless told."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, n, axis, norm, True, True)
    x = _asarray(x, True)
    return _real_inverse(x, *_one(x, n, axis, True), norm, workers)


def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Real samples over any number of axes; the last of them is halved."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, s, axes, norm, True, False)
    x = _asarray(x, False)
    lengths, axes = _shape_and_axes(x, s, axes)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    return _real_forward(x, lengths, axes, norm, workers)


def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of rfftn."""
    _no_plan(plan)
    if isinstance(x, Array):
        return _on_device(x, s, axes, norm, True, True)
    x = _asarray(x, True)
    lengths, axes = _shape_and_axes(x, s, axes, True)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    return _real_inverse(x, lengths, axes, norm, workers)


def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Real samples over two axes."""
    return rfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of rfft2."""
    return irfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The real spectrum of samples with Hermitian symmetry."""
    _no_plan(plan)
    x = np.conj(_asarray(x, True))
    return _real_inverse(x, *_one(x, n, axis, True), norm, workers, False)


def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of hfft."""
    _no_plan(plan)
    x = _asarray(x, False)
    out = _real_forward(x, *_one(x, n, axis), norm, workers, True)
    return np.conj(out, out=out)


def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """hfft over any number of axes."""
    _no_plan(plan)
    x = np.conj(_asarray(x, True))
    lengths, axes = _shape_and_axes(x, s, axes, True)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    return _real_inverse(x, lengths, axes, norm, workers, False)


def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of hfftn."""
    _no_plan(plan)
    x = _asarray(x, False)
    lengths, axes = _shape_and_axes(x, s, axes)
    if not axes:
        raise ValueError("at least 1 axis must be transformed")
    out = _real_forward(x, lengths, axes, norm, workers, True)
    return np.conj(out, out=out)


def hfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """hfft over two axes."""
    return hfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


def ihfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """The inverse of hfft2."""
    return ihfftn(x, s, axes, norm, overwrite_x, workers, plan=plan)


# --- arrays on devices ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _device_plan(device, single, shape, batch, real, scale_forward, scale_inverse):
    return _ridge.DevicePlan(device, single, list(shape), batch, real, scale_forward, scale_inverse, False)


def _on_device(x, lengths, axes, norm, real, inverse):
    """A ridge.Array on another device than the host: its last one to three axes, as long as they are."""
    if x.device == "host":
        function = (irfftn if inverse else rfftn) if real else (ifftn if inverse else fftn)
        return asarray(function(np.asarray(x), None if lengths is None else np.atleast_1d(lengths),
                                np.atleast_1d(axes) if axes is not None else None, norm))
    axes = range(x.ndim) if axes is None else [operator.index(a) for a in np.atleast_1d(axes)]
    axes = [a % x.ndim if -x.ndim <= a < x.ndim else -1 for a in axes]
    if not 1 <= len(axes) <= 3 or axes != list(range(x.ndim - len(axes), x.ndim)):
        raise ValueError("on a device the last one, two or three axes are transformed, in their order")
    wanted = ("complex64", "complex128") if inverse or not real else ("float32", "float64")
    if x.dtype.name not in wanted:
        raise TypeError(f"an array of {x.dtype} on {x.device}: {wanted[0]} or {wanted[1]} is wanted")
    shape, out = list(x.shape[-len(axes):]), list(x.shape)
    if real and inverse:
        shape[-1] = 2 * (shape[-1] - 1)
    if lengths is not None:
        asked = [operator.index(n) for n in np.atleast_1d(lengths)]
        if len(asked) != len(shape) or asked[:-1] != shape[:-1] or (
                asked[-1] != shape[-1] and not (real and inverse and asked[-1] == shape[-1] + 1)):
            raise ValueError(f"on a device lengths are the array's own: {shape}, not {asked}")
        shape = asked
    if any(n < 1 for n in shape):
        raise ValueError(f"invalid number of data points ({shape}) specified")
    if real:
        out[-1] = shape[-1] if inverse else shape[-1] // 2 + 1
    single = x.dtype.name in ("float32", "complex64")
    dtype = ("float32" if single else "float64") if real and inverse else ("complex64" if single else "complex128")
    result = empty(out, dtype, x.device)
    if result.size:
        scale = _scale(norm, _product(shape), inverse)
        decided = _device_plan(x.device, single, tuple(shape), _product(x.shape[:-len(axes)]), real,
                               1.0 if inverse else scale, scale if inverse else 1.0)
        decided.run(x._held, result._held, inverse)
    return result


# --- cosine and sine transforms ---------------------------------------------------------------------------------------


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


# --- helpers ----------------------------------------------------------------------------------------------------------

fftfreq, rfftfreq = np.fft.fftfreq, np.fft.rfftfreq
fftshift, ifftshift = np.fft.fftshift, np.fft.ifftshift


def next_fast_len(target, real=False):
    """The least length from `target` up that is a product of 2, 3, 5, 7, 11 (2, 3, 5 for real).

    >>> next_fast_len(1009)
    1024
    """
    target = operator.index(target)
    if target < 0:
        raise ValueError("Target length must be positive")
    primes = (2, 3, 5) if real else (2, 3, 5, 7, 11)
    n = max(target, 1)
    while True:
        rest = n
        for p in primes:
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return n
        n += 1


class Plan(Shown):
    """A transform decided once, for arrays of one type, shape and layout; run many times.

    >>> import numpy as np
    >>> p = plan(np.zeros((4, 64), np.complex64))
    >>> p(np.ones((4, 64), np.complex64))[0, 0]
    (64+0j)
    """

    def __init__(self, x, out, kind, axes, scale, workers, measured):
        self._plan = _ridge.Plan(x, out, kind, axes, (), scale, workers, measured)
        self._like = (out.shape, out.dtype)

    def __call__(self, x, out=None):
        """The transform of x, into out or into a new array."""
        if out is None:
            out = np.empty(*self._like)
        self._plan.run(x, out)
        return out


def plan(x, axes=None, kind="complex", inverse=False, norm=None, workers=None, measured=True):
    """A plan for arrays like x over some axes (the last one unless told). kind is "complex" or "real"."""
    x = np.asarray(x)
    axes = [x.ndim - 1] if axes is None else _shape_and_axes(x, None, axes)[1]
    lengths = [x.shape[a] for a in axes]
    if kind == "complex":
        if x.dtype not in (np.complex64, np.complex128):
            raise TypeError(f"a complex plan wants complex64 or complex128, not {x.dtype}")
        out, code = np.empty(x.shape, x.dtype), _INVERSE if inverse else _FORWARD
    elif kind == "real" and not inverse:
        if x.dtype not in (np.float32, np.float64):
            raise TypeError(f"a real plan wants float32 or float64, not {x.dtype}")
        shape = list(x.shape)
        shape[axes[-1]] = lengths[-1] // 2 + 1
        out, code = np.empty(shape, _COMPLEX.get(x.dtype, np.complex128)), _REAL_FORWARD
    elif kind == "real":
        if x.dtype not in (np.complex64, np.complex128):
            raise TypeError(f"the way back from a spectrum wants complex64 or complex128, not {x.dtype}")
        lengths[-1] = 2 * (lengths[-1] - 1)
        shape = list(x.shape)
        shape[axes[-1]] = lengths[-1]
        out, code = np.empty(shape, _REAL.get(x.dtype, np.float64)), _REAL_INVERSE
    else:
        raise ValueError(f'kind {kind!r}: "complex" or "real" are there')
    return Plan(x, out, code, axes, _scale(norm, _product(lengths), inverse), _threads(workers), measured)


# --- SciPy's protocol -------------------------------------------------------------------------------------------------

__ua_domain__ = "numpy.scipy.fft"
_functions = {name: globals()[name] for name in __all__[:26]}


def __ua_function__(method, args, kwargs):
    function = _functions.get(method.__name__)
    if function is None:
        return NotImplemented
    try:
        return function(*args, **kwargs)
    except NotImplementedError:
        return NotImplemented


def register():
    """Makes this module the first back end of scipy.fft in every thread; what it declines SciPy does itself."""
    import sys

    import scipy.fft
    scipy.fft.register_backend(sys.modules[__name__])
