"""Transforms of another library's CUDA arrays, on its stream, in memory of its own pool: nothing is copied and nothing waits.

A backend object performs what the library can do itself: moving axes, padding, conversion, allocation. Ridgeline's plan then reads
and writes packed memory by address. `Cupy` here and `Torch` in ridge.torch are such backends.
"""
import functools

from . import _ridge
from ._fft_arguments import _product, _scale, _shape_and_axes
from ._transforms import FOURIER, default_axes, parts

_SINGLE = {"float32": True, "complex64": True, "float64": False, "complex128": False}


class Cupy:
    """CuPy arrays."""

    def __init__(self):
        import cupy
        self.xp = cupy

    def dtype(self, x):
        return x.dtype.name

    def converted(self, x, name):
        return x.astype(name, copy=False)

    def packed(self, x, order):
        return self.xp.ascontiguousarray(x.transpose(order))

    def padded(self, x, shape):
        cut = x[tuple(slice(0, n) for n in shape)]
        if list(cut.shape) == list(shape):
            return cut
        out = self.xp.zeros(shape, x.dtype)
        out[tuple(slice(0, n) for n in cut.shape)] = cut
        return out

    def conjugate(self, x):
        return x.conj()

    def empty(self, shape, name, like):
        with self.xp.cuda.Device(like.device.id):
            return self.xp.empty(tuple(shape), name)

    def moved(self, x, order):
        return x.transpose(order)

    def address(self, x):
        return x.data.ptr

    def device(self, x):
        return f"cuda:{x.device.id}"

    def stream(self, x):
        return self.xp.cuda.get_current_stream().ptr

    def on_host(self, x):
        return x.get()


@functools.lru_cache(maxsize=128)
def _plan(device, stream, single, shape, batch, real, inverse, scale, adjoint):
    """Scratch memory of a plan is ordered by its stream, so each stream has its own."""
    del stream
    forward, back = (scale, 1.0) if inverse == adjoint else (1.0, scale)
    return _ridge.DevicePlan(device, single, list(shape), batch, real, forward, back, False, adjoint=adjoint,
                             only_inverse=inverse != adjoint, both=False)  # the other direction would double the time of planning


def enqueue(backend, x, lengths, real, inverse, scale, adjoint=False):
    """Transforms the last len(lengths) axes of a packed array into a new one. `lengths` are those of the samples.

    inverse: the result are samples. adjoint: the conjugate transpose of the transform in the opposite direction, times scale.
    """
    single = _SINGLE[backend.dtype(x)]
    loops = list(x.shape[:x.ndim - len(lengths)])
    shape = list(lengths)
    if real and not inverse:
        shape[-1] = lengths[-1] // 2 + 1
    name = ("float32" if single else "float64") if real and inverse else ("complex64" if single else "complex128")
    out = backend.empty([*loops, *shape], name, x)
    batch = _product(loops)
    if batch * _product(lengths):
        stream = backend.stream(x)
        chosen = _plan(backend.device(x), stream, single, tuple(lengths), batch, real, inverse, scale, adjoint)
        chosen.enqueue(backend.address(x), backend.address(out), inverse, stream)
    return out


def linear(backend, x, kind, axes, length, scale, adjoint):
    """One map of ridge.torch's operator: kind 0 forward, 1 inverse, 2 real to half spectrum, 3 half spectrum to real."""
    for kind_, some, _, n, factor in parts(kind, [a % x.ndim for a in axes], (), length, scale, adjoint):
        x = _linear(backend, x, kind_, some, n, factor, adjoint)
    return x


def _linear(backend, x, kind, axes, length, scale, adjoint):
    order = [a for a in range(x.ndim) if a not in axes] + axes
    back = [order.index(a) for a in range(x.ndim)]
    packed = backend.packed(x, order)
    real = kind >= 2
    inverse = (kind in (1, 3)) != adjoint
    lengths = list(packed.shape[packed.ndim - len(axes):])
    if real and inverse:
        lengths[-1] = length
    return backend.moved(enqueue(backend, packed, lengths, real, inverse, scale, adjoint), back)


@functools.lru_cache(maxsize=128)
def real_plan(device, stream, single, shape, axes, real_kinds, scale, in_place, adjoint, ends=()):
    """A plan of cosine and sine transforms of a packed array; each stream has its own."""
    del stream
    return _ridge.DeviceRealPlan(device, single, shape, axes, real_kinds, scale, in_place, adjoint, ends)


def cosine(backend, x, axes, real_kinds, scale, adjoint):
    """Cosine and sine transforms, or their adjoint, of a packed array into a new one."""
    out = backend.empty(x.shape, backend.dtype(x), x)
    if not _product(x.shape):
        return out
    stream = backend.stream(x)
    for _, some, kinds, _, factor in parts(4, [a % x.ndim for a in axes], real_kinds, 0, scale, adjoint):
        real_plan(backend.device(x), stream, _SINGLE[backend.dtype(x)], tuple(x.shape), tuple(some), tuple(kinds), factor, x is out,
                  adjoint).enqueue(backend.address(x), backend.address(out), stream)
        x = out
    return out


def transform(backend, name, x, n=None, axis=-1, s=None, axes=None, norm=None):
    """A transform by the name of ridge.fft's function."""
    if name not in FOURIER:
        raise NotImplementedError(f"{name} of a CUDA array of another library: pass ridge.asarray(x)")
    kind, hermitian, several = FOURIER[name]
    inverse = kind in (1, 3)
    if not several:
        s, axes = None if n is None else [n], [axis]
    elif axes is None:
        axes = default_axes(name)
    dtype = backend.dtype(x)
    if dtype not in _SINGLE:
        x = backend.converted(x, "float32" if dtype in ("float16", "bfloat16") else "float64")
        dtype = backend.dtype(x)
    if kind == 2 and dtype.startswith("c"):
        raise TypeError("x must be a real sequence")
    if kind != 2 and not dtype.startswith("c"):
        x = backend.converted(x, "complex64" if _SINGLE[dtype] else "complex128")
    lengths, axes = _shape_and_axes(x, s, axes, kind == 3)
    if not axes:
        return x
    wanted = list(x.shape)
    for length, a in zip(lengths, axes):
        wanted[a] = length
    if kind == 3:
        wanted[axes[-1]] = lengths[-1] // 2 + 1
    if wanted != list(x.shape):
        x = backend.padded(x, wanted)
    scale = _scale(norm, _product(lengths), inverse != hermitian)
    if kind == 3 and hermitian:
        x = backend.conjugate(x)
    out = linear(backend, x, kind, axes, lengths[-1], scale, False)
    return backend.conjugate(out) if kind == 2 and hermitian else out
