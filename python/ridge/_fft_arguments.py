"""Argument handling shared by the transforms: array types, axes, lengths, norms, threads."""
import contextlib
import operator
import os

import numpy as np

from . import _ridge

_FORWARD, _INVERSE, _REAL_FORWARD, _REAL_INVERSE, _REAL_TO_REAL = range(5)
_COMPLEX = {np.dtype(np.float32): np.dtype(np.complex64), np.dtype(np.complex64): np.dtype(np.complex64)}
_REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.float32): np.dtype(np.float32)}


@contextlib.contextmanager
def set_workers(workers):
    """Context manager: default number of threads for calls without `workers`, in the calling thread, as scipy.fft.set_workers.

    >>> with set_workers(4):
    ...     get_workers()
    4
    >>> get_workers()
    1
    """
    before = get_workers()
    _ridge.set_default_workers(_threads(operator.index(workers)))
    try:
        yield
    finally:
        _ridge.set_default_workers(before)


def get_workers():
    """The default number of threads for calls without `workers`, in the calling thread."""
    return _ridge.default_workers()


_MOST_THREADS = 4096  # as base::kMostThreads: more are never started


def _threads(workers):
    if workers is None:
        return _ridge.default_workers()
    workers = operator.index(workers)
    if workers > 0:
        return min(workers, _MOST_THREADS)
    if workers == 0:
        raise ValueError("workers must not be zero")
    cores = os.cpu_count() or 1
    if workers < -cores:
        raise ValueError(f"workers value out of range; got {workers}, must not be less than {-cores}")
    return workers + 1 + cores


def _asarray(x, complex_wanted):
    """x as an array of a supported type, and True if that array is a copy made here (only such a copy may be overwritten).

    An array that np.asarray() returns for another object may be that object's own memory (pandas, xarray, torch), whatever its
    `base` is. Raises NotImplementedError for long double.
    """
    x = np.asarray(x)
    kind, size = x.dtype.kind, x.dtype.itemsize
    if (kind == "f" and size > 8) or (kind == "c" and size > 16):
        raise NotImplementedError("long double is not supported")
    if kind == "f":
        wanted = np.float32 if size <= 4 else np.float64
    elif kind == "c":
        wanted = np.complex64 if size == 8 else np.complex128
    elif kind in "biuOSU":  # objects and text are converted to float64, or raise, as in SciPy
        wanted = np.float64
    else:
        raise TypeError(f"cannot transform an array of type {x.dtype}")
    wanted = np.dtype(wanted)
    if complex_wanted:
        wanted = _COMPLEX.get(wanted, np.dtype(np.complex128))
    if x.dtype != wanted or not x.dtype.isnative:
        return (x.astype(np.float64) if kind in "OSU" else x).astype(wanted), True
    if not x.flags.aligned or any(s % x.itemsize for s in x.strides):
        return x.copy(), True
    return x, False


def _axis(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise IndexError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def _integers(x, name):
    """A list of integers from one integer or an iterable."""
    try:
        return [operator.index(i) for i in (x if isinstance(x, (list, tuple)) or np.iterable(x) else (x,))]
    except TypeError:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from None


def _shape_and_axes(x, s, axes, halved=False):
    """The lengths along the transformed axes, and those axes."""
    if axes is not None:
        axes = _integers(axes, "axes")
        if any(not -x.ndim <= a < x.ndim for a in axes):
            raise ValueError("axes exceeds dimensionality of input")
        axes = [a % x.ndim for a in axes]
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
    if s is not None:
        s = _integers(s, "shape")
        if axes and len(axes) != len(s):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        if axes is None:
            if len(s) > x.ndim:
                raise ValueError("shape requires more axes than are present")
            axes = list(range(x.ndim - len(s), x.ndim))
        lengths = [x.shape[a] if n == -1 else n for n, a in zip(s, axes)]
    else:
        axes = list(range(x.ndim)) if axes is None else axes
        lengths = [x.shape[a] for a in axes]
    if any(n < 1 for n in lengths):
        raise ValueError(f"invalid number of data points ({lengths}) specified")
    if halved and s is None and lengths:
        lengths[-1] = 2 * (lengths[-1] - 1) or 1
    return lengths, axes


def _cut(x, lengths, axes):
    """x, or a view of its first values along the axes."""
    if all(x.shape[a] <= n for n, a in zip(lengths, axes)):
        return x
    cut = [slice(None)] * x.ndim
    for n, a in zip(lengths, axes):
        cut[a] = slice(0, n)
    return x[tuple(cut)]


def _resized(x, lengths, axes):
    """x cut or zero-padded along the axes, and True if the result is a new array."""
    x, shape = _cut(x, lengths, axes), list(x.shape)
    for n, a in zip(lengths, axes):
        shape[a] = n
    if list(x.shape) == shape:
        return x, False
    padded = np.zeros(shape, x.dtype)
    padded[tuple(slice(0, n) for n in x.shape)] = x
    return padded, True


_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def _scale(norm, points, inverse):
    try:
        which = _NORMS[norm]
    except KeyError:
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"') from None
    if which == 1:
        return 1.0 / float(points) ** 0.5
    return 1.0 / points if (which == 2) != inverse else 1.0


def _product(lengths):
    product = 1
    for n in lengths:
        product *= n
    return product


def _one(x, n, axis, halved=False):
    """Length and axis of a one-dimensional transform, as lists."""
    axis = _axis(axis, x.ndim)
    if n is None:
        n = 2 * (x.shape[axis] - 1) if halved else x.shape[axis]
    else:
        n = operator.index(n)
        if halved and n == 0:
            n = 1  # as in SciPy: the one value read of the spectrum
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified")
    return [n], [axis]


def _no_plan(plan):
    if plan is not None:
        raise NotImplementedError("passing a precomputed plan is not supported: use ridge.fft.plan")
