"""Transforms of ridge.Array on another device than the host, and of 16-bit numbers."""
import functools
import operator

import numpy as np

from . import _ridge
from ._fft_arguments import _product, _scale
from ._picture import Shown
from .array import Array, asarray, empty


@functools.lru_cache(maxsize=64)
def _device_plan(device, single, shape, batch, real, scale_forward, scale_inverse):
    return _ridge.DevicePlan(device, single, list(shape), batch, real, scale_forward, scale_inverse, False)


def _on_device(x, lengths, axes, norm, real, inverse):
    """A ridge.Array on another device than the host: its last one to three axes, as long as they are."""
    if x.device == "host":
        from . import fft
        function = (fft.irfftn if inverse else fft.rfftn) if real else (fft.ifftn if inverse else fft.fftn)
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


class HalfPlan(Shown):
    """Transforms of one shape between arrays of 16-bit numbers, computed in float; made by plan_halves."""

    def __init__(self, shape, batch, real, inverse, scale, storage, device, measured):
        self._plan = _ridge.DevicePlan(device, True, list(shape), batch, real, 1.0 if inverse else scale,
                                       scale if inverse else 1.0, measured, storage, inverse)
        self._inverse = inverse
        spectrum = [*shape[:-1], shape[-1] // 2 + 1 if real else shape[-1], 2]
        samples = list(shape) if real else spectrum
        self._in, self._out = ([batch, *spectrum], [batch, *samples]) if inverse else ([batch, *samples], [batch, *spectrum])
        self._device = device

    def __call__(self, x):
        """The transform of x, a new array of x's type: NumPy's on the host, a ridge.Array elsewhere."""
        host = not isinstance(x, Array)
        given = asarray(np.ascontiguousarray(x)) if host else x
        if given.dtype.name not in ("float16", "uint16"):
            raise TypeError(f"an array of {given.dtype}: float16, or uint16 with the bits of bfloat16, is wanted")
        if list(given.shape) != self._in:
            raise ValueError(f"an array of shape {tuple(given.shape)}: the plan takes {tuple(self._in)}")
        out = empty(self._out, given.dtype.name, given.device)
        self._plan.run(given._held, out._held, self._inverse)
        return np.asarray(out) if host else out


def plan_halves(shape, batch=1, kind="complex", inverse=False, norm=None, storage="float16", device="host", measured=False):
    """A plan for arrays of float16, or of uint16 that hold bfloat16: loads and stores them, and computes in float.

    Complex numbers are pairs along a last axis of 2: a batch of spectra has the shape (batch, *shape, 2).

    >>> import numpy as np
    >>> p = plan_halves((8,), kind="real")
    >>> p(np.ones((1, 8), np.float16))[0, 0]
    array([8., 0.], dtype=float16)
    """
    shape = [operator.index(n) for n in np.atleast_1d(shape)]
    if not 1 <= len(shape) <= 3 or any(n < 1 for n in shape):
        raise ValueError(f"a shape of one to three lengths is wanted, not {shape}")
    if storage not in ("float16", "bfloat16"):
        raise ValueError(f'storage {storage!r}: "float16" or "bfloat16" are there')
    if kind not in ("complex", "real"):
        raise ValueError(f'kind {kind!r}: "complex" or "real" are there')
    scale = _scale(norm, _product(shape), inverse)
    return HalfPlan(shape, operator.index(batch), kind == "real", bool(inverse), scale, storage, device, measured)
