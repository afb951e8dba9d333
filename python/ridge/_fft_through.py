"""Transforms of arrays in host memory on another device: `device=` of the functions and plans of ridge.fft.

A plan uploads, transforms and downloads. Arrays that exceed the device memory that plans may use (nine tenths of it, or
RIDGE_DEVICE_MEMORY) are transformed in panels: while one is computed, the next is uploaded and the previous one downloaded.
"""
import functools

import numpy as np

from . import _ridge
from ._fft_arguments import _cut, _product, _resized
from ._fft_device import _MOST_AXES, _real_on_device
from .array import array, device_name

_KEPT_BYTES = 64 << 20  # plans of larger arrays are not cached: they keep as much device memory


def _is_elsewhere(device):
    """True if `device` names another device than the host. None is the host."""
    return device is not None and device_name(device) != "host"


def _same_device(x, device):
    """Checks `device` for an array that has one."""
    if device is not None and device != x.device:
        raise ValueError(f'the array is on {x.device}, and device="{device}" was given: leave device out, '
                         f'or copy the array with ridge.array(x.numpy(), "{device}")')


@functools.lru_cache(maxsize=32)
def _kept_plan(*problem):
    return _new_plan(*problem)


def _new_plan(device, single, shape, batch, real, inverse, scale, given, adjoint=False, measured=False):
    return _ridge.DevicePlan(device, single, list(shape), batch, real, 1.0 if inverse else scale, scale if inverse else 1.0,
                             measured, only_inverse=inverse, adjoint=adjoint, given=list(given), both=adjoint)


def _halved(lengths):
    return [*lengths[:-1], lengths[-1] // 2 + 1]


def _types(dtype, real, inverse):
    """True for single precision, and the type of the result."""
    single = dtype in (np.float32, np.complex64)
    names = ("float32", "float64") if real and inverse else ("complex64", "complex128")
    return single, np.dtype(names[0 if single else 1])


def _last_axes(x, lengths, axes, scale, real, inverse, device):
    """A transform over at most three axes: they are moved to the end, transformed, and moved back."""
    held = _halved(lengths) if real and inverse else list(lengths)
    order = [a for a in range(x.ndim) if a not in axes] + list(axes)
    packed = np.ascontiguousarray(_cut(x, held, axes).transpose(order))
    loops, given = packed.shape[:-len(axes)], packed.shape[-len(axes):]
    single, dtype = _types(x.dtype, real, inverse)
    result = np.empty((*loops, *(_halved(lengths) if real and not inverse else lengths)), dtype)
    back = np.argsort(order)
    if not packed.size or not result.size:
        return np.zeros(result.shape, dtype).transpose(back).copy()
    larger = packed.nbytes + result.nbytes > _ridge.device_memory(device)
    if list(given) != held and larger:  # panels hold whole transforms
        packed, given = _resized(packed, held, range(len(loops), packed.ndim))[0], held
    make = _new_plan if larger or packed.nbytes + result.nbytes > _KEPT_BYTES else _kept_plan
    make(device, single, tuple(lengths), _product(loops), real, inverse, scale, () if list(given) == held else tuple(given)).run_host(
        packed, result, inverse)
    return np.ascontiguousarray(result.transpose(back))


def _through(x, lengths, axes, scale, real, inverse, device):
    """A transform of a NumPy array on a device. inverse: the result are samples."""
    first, last = list(axes[:-_MOST_AXES]), list(axes[-_MOST_AXES:])
    ends = lengths[len(first):]
    if first and real and inverse:
        x = _through(x, lengths[:len(first)], first, 1.0, False, True, device)
    x = _last_axes(x, ends, last, scale, real, inverse, device)
    if first and not (real and inverse):
        x = _through(x, lengths[:len(first)], first, 1.0, False, inverse, device)
    return x


def _real_through(x, kind, lengths, axes, scale, ends, device):
    """Cosine and sine transforms of a NumPy array on a device; `ends` as of _fft_cosine._ends.

    Transforms that exceed the device memory together run in blocks along an axis that is not transformed.
    """
    x = _resized(x, lengths, axes)[0]
    room, needed = _ridge.device_memory(device), 4 * x.nbytes  # the array, its result and scratch memory

    def one(part):
        return _real_on_device(array(part, device), kind, lengths, axes, scale, ends).numpy()
    if needed <= room:
        return one(x)
    loops = [a for a in range(x.ndim) if a not in axes]
    blocks = -(-needed // room) if room else x.size
    axis = max(loops, key=lambda a: x.shape[a], default=None)
    if axis is None or x.shape[axis] < blocks:
        raise MemoryError(f"cosine and sine transforms of {x.nbytes} bytes need {needed} bytes on {device}, and {room} may be used: "
                          "transform fewer axes at a time, or on the host")
    out = np.empty(x.shape, x.dtype)
    step = x.shape[axis] // blocks
    for begin in range(0, x.shape[axis], step):
        block = (slice(None),) * axis + (slice(begin, begin + step),)
        out[block] = one(x[block])
    return out
