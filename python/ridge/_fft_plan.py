"""Plans of transforms on the host, as objects."""
import numpy as np

from . import _ridge
from ._fft_arguments import (_COMPLEX, _FORWARD, _INVERSE, _REAL, _REAL_FORWARD, _REAL_INVERSE, _product, _scale,
                             _shape_and_axes, _threads)
from ._picture import Shown


def _layout(array):
    """Shape, strides and type of an array: all that a plan depends on, and all that is pickled."""
    return array.shape, array.strides, array.dtype.str


def _like(layout):
    """An uninitialized array with a layout."""
    shape, strides, dtype = layout
    low = sum((n - 1) * s for n, s in zip(shape, strides) if s < 0 and n)
    high = sum((n - 1) * s for n, s in zip(shape, strides) if s > 0 and n)
    memory = np.empty(high - low + np.dtype(dtype).itemsize, np.uint8)
    return np.ndarray(shape, dtype, memory, -low, strides)


class Plan(Shown):
    """A planned transform for arrays of one type, shape and layout, to run many times.

    A pickled plan is planned again where it is loaded, for the machine there.

    >>> import numpy as np
    >>> p = plan(np.zeros((4, 64), np.complex64))
    >>> p(np.ones((4, 64), np.complex64))[0, 0]
    (64+0j)
    """

    def __init__(self, x, out, kind, axes, scale, workers, measured, adjoint=False):
        self._plan = _ridge.Plan(x, out, kind, axes, (), scale, workers, measured, adjoint)
        self._problem = _layout(x), _layout(out), kind, tuple(axes), scale, workers, measured, adjoint
        self._result = (out.shape, out.dtype)

    def __call__(self, x, out=None):
        """The transform of x, into out or into a new array."""
        if out is None:
            out = np.empty(*self._result)
        self._plan.run(np.asarray(x), out)
        return out

    def adjoint(self):
        """The plan of the conjugate transpose: np.vdot(g, p(x)) equals np.vdot(p.adjoint()(g), x), as real numbers for real plans.

        >>> import numpy as np
        >>> p = plan(np.zeros(5), kind="real", measured=False)
        >>> x, g = np.array([1.0, 2, 3, 4, 5]), np.array([1, 2j, 3])
        >>> bool(abs(np.vdot(g, p(x)).real - np.vdot(p.adjoint()(g), x)) < 1e-12)
        True
        """
        x, out, kind, axes, scale, workers, measured, adjoint = self._problem
        return Plan(_like(out), np.empty(x[0], x[2]), kind, axes, scale, workers, measured, not adjoint)

    def __reduce__(self):
        return _planned, self._problem


def _planned(x, out, *rest):
    return Plan(_like(x), _like(out), *rest)


class Convolution:
    """A filter applied to signals by overlap-save; made by convolution()."""

    def __init__(self, plan, weights, inner, workers):
        self._plan, self._weights, self._inner, self._workers = plan, weights, inner, workers

    def __call__(self, signal):
        """The convolution of a signal: len(signal) + len(filter) - 1 values. An adjoint returns len(signal) - len(filter) + 1."""
        signal = np.ascontiguousarray(signal, self._weights.dtype)
        if signal.ndim != 1 or len(signal) < (len(self._weights) if self._inner else 1):
            raise ValueError(f"needs a signal of one axis and at least {len(self._weights) if self._inner else 1} values, "
                             f"got the shape {signal.shape}")
        out = np.empty(len(signal) + (1 - len(self._weights) if self._inner else len(self._weights) - 1), signal.dtype)
        self._plan.run(signal, out)
        return out

    def adjoint(self):
        """The conjugate transpose: correlates with the filter and keeps the values for which the filter lies within the signal."""
        return Convolution(self._plan.adjoint(), self._weights, not self._inner, self._workers)

    def explain(self):
        return self._plan.explain()

    def __reduce__(self):
        return _convolution_again, (self._weights, self._inner, self._workers)


def _convolution_again(weights, inner, workers):
    made = convolution(weights, workers)
    return made.adjoint() if inner else made


def convolution(filter, workers=None):
    """A plan that convolves signals with a filter, as numpy.convolve(signal, filter).

    >>> convolution([1.0, 2.0, 1.0])([1.0, 0.0, 0.0, 1.0]).round(9) + 0.0
    array([1., 2., 1., 1., 2., 1.])
    """
    weights = np.array(filter)
    if weights.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        weights = weights.astype(np.float64)
    if weights.ndim != 1 or not weights.size:
        raise ValueError(f"the filter needs one axis and at least 1 value, got the shape {weights.shape}")
    return Convolution(_ridge.Convolution(weights, _threads(workers)), weights, False, workers)


def plan(x, axes=None, kind="complex", inverse=False, norm=None, workers=None, measured=True):
    """A plan for arrays like x over some axes (default: the last one). kind is "complex" or "real"."""
    x = np.asarray(x)
    axes = [x.ndim - 1] if axes is None else _shape_and_axes(x, None, axes)[1]
    lengths = [x.shape[a] for a in axes]
    if kind == "complex":
        if x.dtype not in (np.complex64, np.complex128):
            raise TypeError(f"a complex plan needs complex64 or complex128, got {x.dtype}")
        out, code = np.empty(x.shape, x.dtype), _INVERSE if inverse else _FORWARD
    elif kind == "real" and not inverse:
        if x.dtype not in (np.float32, np.float64):
            raise TypeError(f"a real plan needs float32 or float64, got {x.dtype}")
        shape = list(x.shape)
        shape[axes[-1]] = lengths[-1] // 2 + 1
        out, code = np.empty(shape, _COMPLEX.get(x.dtype, np.complex128)), _REAL_FORWARD
    elif kind == "real":
        if x.dtype not in (np.complex64, np.complex128):
            raise TypeError(f"an inverse real plan needs complex64 or complex128, got {x.dtype}")
        lengths[-1] = 2 * (lengths[-1] - 1)
        shape = list(x.shape)
        shape[axes[-1]] = lengths[-1]
        out, code = np.empty(shape, _REAL.get(x.dtype, np.float64)), _REAL_INVERSE
    else:
        raise ValueError(f'unknown kind {kind!r}: use "complex" or "real"')
    return Plan(x, out, code, axes, _scale(norm, _product(lengths), inverse), _threads(workers), measured)
