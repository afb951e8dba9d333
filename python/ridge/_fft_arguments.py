"""What the transforms share: arrays in a type we transform, axes, lengths, norms, threads."""
import operator
import os

import numpy as np

_FORWARD, _INVERSE, _REAL_FORWARD, _REAL_INVERSE, _REAL_TO_REAL = range(5)
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
