"""Transforms of arrays in device memory, and of 16-bit floats."""
import functools
import operator

import numpy as np

from . import _ridge
from ._fft_arguments import _one, _product, _scale, _shape_and_axes
from ._library import library_of
from ._pickled import Pickled
from ._picture import Shown
from .array import Array, array, asarray, empty


_MOST_AXES = 3  # that one device plan transforms


@functools.lru_cache(maxsize=64)
def _device_plan(device, single, shape, batch, real, scale_forward, scale_inverse, inverse=False, given=()):
    return _ridge.DevicePlan(device, single, list(shape), batch, real, scale_forward, scale_inverse, False, only_inverse=inverse,
                             given=list(given))


@functools.lru_cache(maxsize=64)
def _device_real_plan(device, single, shape, axes, kind, scale, in_place, ends):
    return _ridge.DeviceRealPlan(device, single, shape, axes, [kind] * len(axes), scale, in_place, False, ends)


@functools.lru_cache(maxsize=64)
def _rearranger(device, single, complex_input, complex_output, conjugate):
    return _ridge.Rearranger(device, single, complex_input, complex_output, conjugate)


def _elsewhere(x):
    """x as a ridge.Array if it is one or is in CUDA memory, else None: NumPy handles all other objects."""
    if isinstance(x, np.ndarray):
        return None
    if isinstance(x, Array):
        return x
    if hasattr(x, "__cuda_array_interface__") or (hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == 2):
        return asarray(x)
    return None


def _single(x):
    if x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise TypeError(f"an array on {x.device} must be float32, float64, complex64 or complex128, got {x.dtype}")
    return x.dtype.name in ("float32", "complex64")


def _rearranged(x, order, lengths, complex_output, conjugate=False):
    """A new array with axes reordered, cut or zero-padded, converted to complex, or conjugated."""
    tool = _rearranger(x.device, _single(x), x.dtype.kind == "c", complex_output, conjugate)
    return Array(tool.rearranged(x._held, order, lengths))


def _last_axes(x, lengths, axes, scale, real, inverse, hermitian):
    """Transforms at most three axes: moves them to the end, transforms, and moves them back."""
    if not x.size:  # zeros of the result's shape
        from . import fft
        name = ("irfftn" if inverse else "rfftn") if real else "fftn"
        return array(getattr(fft, name)(np.zeros(x.shape, x.dtype), lengths, axes), x.device)
    given = x.dtype.kind == "c"
    wants_complex = inverse or not real
    order = [a for a in range(x.ndim) if a not in axes] + axes
    wanted = [x.shape[a] for a in order[:-len(axes)]] + list(lengths)
    if real and inverse:
        wanted[-1] = lengths[-1] // 2 + 1
    straight = order == list(range(x.ndim))
    conjugate = hermitian and inverse
    held = [min(n, x.shape[a]) for n, a in zip(wanted, order)]  # the plan takes missing values as zero
    if not straight or held != list(x.shape) or given != wants_complex or conjugate:
        x = _rearranged(x, order, held, wants_complex, conjugate)
    out = wanted[:-len(axes)] + list(lengths)
    if real and not inverse:
        out[-1] = lengths[-1] // 2 + 1
    single = _single(x)
    dtype = ("float32" if single else "float64") if real and inverse else ("complex64" if single else "complex128")
    result = empty(out, dtype, x.device)
    if result.size:
        boxed = (inverse, tuple(held[-len(axes):])) if held != wanted else ()
        decided = _device_plan(x.device, single, tuple(lengths), _product(wanted[:-len(axes)]), real,
                               1.0 if inverse else scale, scale if inverse else 1.0, *boxed)
        decided.run(x._held, result._held, inverse)
    conjugate = hermitian and not inverse
    if not straight or conjugate:
        back = [order.index(a) for a in range(x.ndim)]
        result = _rearranged(result, back, [out[a] for a in back], dtype.startswith("c"), conjugate)
    return result


def _on_device(x, s, axes, norm, real, inverse, hermitian=False):
    """Transforms a ridge.Array on its device. hermitian: the spectrum is real and the samples are Hermitian (hfft)."""
    if x.device == "host":
        from . import fft
        name = {(False, False): "fft", (False, True): "ifft", (True, False): "ihfft" if hermitian else "rfft",
                (True, True): "hfft" if hermitian else "irfft"}[real, inverse]
        one = axes is not None and not np.iterable(axes)
        return asarray(getattr(fft, name if one else name + "n")(np.asarray(x), s, axes, norm))
    halved = real and inverse
    lengths, axes = _shape_and_axes(x, s, axes, halved) if axes is None or np.iterable(axes) else _one(x, s, axes, halved)
    _single(x)
    if real and not inverse and x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    if not axes:
        if real:
            raise ValueError("at least 1 axis must be transformed")
        return x
    first, last = axes[:-_MOST_AXES], axes[-_MOST_AXES:]
    if first and halved:
        x = _on_device(x, lengths[:len(first)], first, norm, False, inverse != hermitian)
    ends = lengths[len(first):]
    scale = _scale(norm, _product(ends), inverse != hermitian)
    x = _last_axes(x, ends, last, scale, real, inverse, hermitian)
    if first and not halved:
        x = _on_device(x, lengths[:len(first)], first, norm, False, inverse != hermitian)
    return x


def _real_on_device(x, kind, lengths, axes, scale, ends):
    """Cosine and sine transforms; `ends` as of _fft_cosine._ends."""
    single, shape = _single(x), list(x.shape)
    for n, a in zip(lengths, axes):
        shape[a] = n
    own = shape != list(x.shape) or not axes
    complex_ = x.dtype.kind == "c"
    if own:
        x = _rearranged(x, list(range(x.ndim)), shape, complex_)
    if complex_:  # real and imaginary parts become one more axis
        x = Array(x._held.viewed("float32" if single else "float64", [*shape, 2]))
    out = x if own else empty(x.shape, x.dtype, x.device)
    for i in range(0, len(axes) if out.size else 0, _MOST_AXES):
        here = out is x
        _device_real_plan(x.device, single, x.shape, tuple(axes[i:i + _MOST_AXES]), kind, 1.0 if i else scale, here, ends).run(
            x._held, out._held)
        x = out
    return Array(out._held.viewed("complex64" if single else "complex128", shape)) if complex_ else out


class Float16Plan(Pickled, Shown):
    """A plan for 16-bit floats of one shape, computed in float; made by plan_float16."""

    def __init__(self, shape, batch, real, inverse, scale, storage, device, measured):
        self._plan = _ridge.DevicePlan(device, True, list(shape), batch, real, 1.0 if inverse else scale,
                                       scale if inverse else 1.0, measured, storage, inverse)
        self._inverse, self._storage = inverse, storage
        spectrum = [*shape[:-1], shape[-1] // 2 + 1 if real else shape[-1], 2]
        samples = list(shape) if real else spectrum
        self._in, self._out = ([batch, *spectrum], [batch, *samples]) if inverse else ([batch, *samples], [batch, *spectrum])
        self._device = device

    def __call__(self, x):
        """The transform of x in a new array of its type: a NumPy array on the host, a ridge.Array on a device, a torch tensor.

        Tensors are float16 or bfloat16 as the plan's storage; on CUDA the plan runs on the current stream and does not wait.
        """
        if library_of(x) == "torch":
            return self._of_tensor(x)
        host = not isinstance(x, Array)
        given = np.asarray(x) if host else x
        if given.dtype.name not in ("float16", "uint16"):
            raise TypeError(f"the array must be float16, or uint16 with the bits of bfloat16, got {given.dtype}")
        if host:
            given = asarray(np.require(given, given.dtype.newbyteorder("="), ["C", "A"]))
        if list(given.shape) != self._in:
            raise ValueError(f"the array must have the shape {tuple(self._in)}, got {tuple(given.shape)}")
        out = empty(self._out, given.dtype.name, given.device)
        self._plan.run(given._held, out._held, self._inverse)
        return np.asarray(out) if host else out


    def _of_tensor(self, x):
        import torch
        if x.dtype != getattr(torch, self._storage):
            raise TypeError(f"the tensor must be {self._storage}, as the plan's storage, got {x.dtype}")
        if list(x.shape) != self._in:
            raise ValueError(f"the tensor must have the shape {tuple(self._in)}, got {tuple(x.shape)}")
        if x.requires_grad and torch.is_grad_enabled():
            raise ValueError("plans of 16-bit floats have no gradients: pass x.detach(), or use ridge.torch in float32")
        if not x.is_cuda:
            bits = np.ascontiguousarray(x.contiguous().view(torch.int16).numpy()).view(np.uint16)
            return torch.from_numpy(np.array(self(bits)).view(np.int16)).view(x.dtype)
        if self._device != f"cuda:{x.device.index or 0}":
            raise ValueError(f"the tensor is on {x.device}, the plan is for {self._device}")
        x, out = x.contiguous(), torch.empty(self._out, dtype=x.dtype, device=x.device)
        self._plan.enqueue(x.data_ptr(), out.data_ptr(), self._inverse, torch.cuda.current_stream(x.device).cuda_stream)
        return out


def plan_float16(shape, batch=1, kind="complex", inverse=False, norm=None, storage="float16", device="host", measured=False):
    """A plan for 16-bit floats, float16 or bfloat16 in uint16 arrays: they are loaded and stored, the computation is in float.

    Complex numbers are pairs along a last axis of 2: a batch of spectra has the shape (batch, *shape, 2).

    >>> import numpy as np
    >>> p = plan_float16((8,), kind="real")
    >>> p(np.ones((1, 8), np.float16))[0, 0]
    array([8., 0.], dtype=float16)
    """
    shape = [operator.index(n) for n in np.atleast_1d(shape)]
    if not 1 <= len(shape) <= 3 or any(n < 1 for n in shape):
        raise ValueError(f"the shape must have one to three lengths of at least 1, got {shape}")
    if storage not in ("float16", "bfloat16"):
        raise ValueError(f'unknown storage {storage!r}: use "float16" or "bfloat16"')
    if kind not in ("complex", "real"):
        raise ValueError(f'unknown kind {kind!r}: use "complex" or "real"')
    scale = _scale(norm, _product(shape), inverse)
    return Float16Plan(shape, operator.index(batch), kind == "real", bool(inverse), scale, storage, device, measured)
