"""Plans of transforms of NumPy arrays, as objects."""
import numpy as np

from . import _ridge
from ._fft_arguments import (_COMPLEX, _FORWARD, _INVERSE, _REAL, _REAL_FORWARD, _REAL_INVERSE, _product, _scale,
                             _shape_and_axes, _threads)
from ._fft_device import _MOST_AXES
from ._fft_through import _halved, _is_elsewhere, _new_plan, _types
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


class DevicePlan(Plan):
    """A planned transform of NumPy arrays on a device; made by plan(device=...). The arrays may have any strides."""

    def __init__(self, shape, dtype, kind, axes, lengths, scale, measured, device, adjoint=False):
        if not 1 <= len(axes) <= _MOST_AXES:
            raise ValueError(f"a plan on a device needs 1 to {_MOST_AXES} axes, got {len(axes)}: ridge.fft.fftn has no such limit")
        self._problem = tuple(shape), np.dtype(dtype).str, kind, tuple(axes), tuple(lengths), scale, measured, device, adjoint
        self._order = [a for a in range(len(shape)) if a not in axes] + list(axes)
        self._inverse = (kind in (_INVERSE, _REAL_INVERSE)) != adjoint  # direction of the C++ plan
        self._shape, self._dtype, self.device = tuple(shape), np.dtype(dtype), device
        real, samples = kind in (_REAL_FORWARD, _REAL_INVERSE), kind == _REAL_INVERSE
        if adjoint:
            samples = kind == _REAL_FORWARD
        made = list(lengths) if samples or not real else _halved(lengths)
        loops = [shape[a] for a in self._order[:-len(axes)]]
        single, dtype = _types(self._dtype, real, samples)
        self._result = (*loops, *made), dtype
        self._plan = _new_plan(device, single, tuple(lengths), _product(loops), real, kind in (_INVERSE, _REAL_INVERSE), scale, (),
                               adjoint, measured)

    def __call__(self, x, out=None):
        """The transform of x, into out or into a new array."""
        x = np.asarray(x)
        if x.shape != self._shape or x.dtype != self._dtype:
            raise ValueError(f"the array must have the plan's shape {self._shape} and type {self._dtype}, got {x.shape} and {x.dtype}")
        back = np.argsort(self._order)
        shape = tuple(self._result[0][i] for i in back)
        if out is not None and (not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != self._result[1]):
            raise ValueError(f"out must be an array of the shape {shape} and type {self._result[1]}")
        made = np.empty(*self._result)
        if made.size:
            self._plan.run_host(np.ascontiguousarray(x.transpose(self._order)), made, self._inverse)
        if out is None:
            return np.ascontiguousarray(made.transpose(back))
        out[...] = made.transpose(back)
        return out

    def adjoint(self):
        """The plan of the conjugate transpose, on the same device."""
        shape, dtype, kind, axes, lengths, scale, measured, device, adjoint = self._problem
        back = np.argsort(self._order)
        return DevicePlan([self._result[0][i] for i in back], self._result[1], kind, axes, lengths, scale, measured, device, not adjoint)

    def __reduce__(self):
        return DevicePlan, self._problem


def _planned(x, out, *rest):
    return Plan(_like(x), _like(out), *rest)


class Convolution:
    """A filter applied to signals by overlap-save; made by convolution()."""

    def __init__(self, plan, weights, inner, workers, device="host"):
        self._plan, self._weights, self._inner, self._workers, self.device = plan, weights, inner, workers, device

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
        return Convolution(self._plan.adjoint(), self._weights, not self._inner, self._workers, self.device)

    def explain(self):
        return self._plan.explain()

    def __reduce__(self):
        return _convolution_again, (self._weights, self._inner, self._workers, self.device)


def _convolution_again(weights, inner, workers, device="host"):
    made = convolution(weights, workers, device)
    return made.adjoint() if inner else made


def convolution(filter, workers=None, device="host"):
    """A plan that convolves signals with a filter, as numpy.convolve(signal, filter). On another device than the host, signals of any
    length are uploaded, filtered and downloaded in panels.

    >>> convolution([1.0, 2.0, 1.0])([1.0, 0.0, 0.0, 1.0]).round(9) + 0.0
    array([1., 2., 1., 1., 2., 1.])
    """
    weights = np.array(filter)
    if weights.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        weights = weights.astype(np.float64)
    if weights.ndim != 1 or not weights.size:
        raise ValueError(f"the filter needs one axis and at least 1 value, got the shape {weights.shape}")
    device = device if _is_elsewhere(device) else "host"
    return Convolution(_ridge.Convolution(weights, _threads(workers), device), weights, False, workers, device)


def plan(x, axes=None, kind="complex", inverse=False, norm=None, workers=None, measured=True, device=None):
    """A plan for arrays like x over some axes (default: the last one). kind is "complex" or "real". On a device other than the host,
    arrays are uploaded, transformed and downloaded."""
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
    scale = _scale(norm, _product(lengths), inverse)
    if _is_elsewhere(device):
        return DevicePlan(x.shape, x.dtype, code, axes, lengths, scale, measured, device)
    return Plan(x, out, code, axes, scale, _threads(workers), measured)
