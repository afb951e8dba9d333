"""Transforms inside JAX programs through XLA's foreign function interface: jit, grad, jvp, vmap, hessian.

    import jax, ridge.jax
    power = lambda x: (abs(ridge.jax.rfft(x)) ** 2).sum()
    jax.jit(jax.grad(power))(x)

Names and arguments are those of ridge.fft. One primitive, linear, whose transpose is the primitive again. On CUDA: complex and real
transforms of at most three axes, on the first device.
"""
import os
import re

import jax as _jax
import jax.numpy as _jnp
import numpy as np
from jax.interpreters import ad as _ad, batching as _batching, mlir as _mlir

from . import _ridge
from ._fft_arguments import _product, _scale, _shape_and_axes
from ._fft_cosine import _DCT, _DST, _INVERSE_TYPE, _ends

try:
    from jax.extend.core import Primitive as _Primitive
except ImportError:  # JAX before 0.4.36
    from jax.core import Primitive as _Primitive
try:
    from jax import ffi as _ffi
except ImportError:  # JAX before 0.5
    from jax.extend import ffi as _ffi

__all__ = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft", "ihfft",
           "hfft2", "ihfft2", "hfftn", "ihfftn", "dct", "idct", "dctn", "idctn", "dst", "idst", "dstn", "idstn"]

_FORWARD, _INVERSE, _HALF, _SAMPLES, _COSINE = range(5)
_WIDE = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}
_NARROW = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}


def _register():
    """Registers the handlers with the interface version of the jaxlib in use, which its header states."""
    with open(os.path.join(_ffi.include_dir(), "xla", "ffi", "api", "c_api.h"), encoding="utf-8") as header:
        text = header.read()
    version = [int(re.search(rf"#define XLA_FFI_API_{part} (\d+)", text).group(1)) for part in ("MAJOR", "MINOR")]
    _ridge.set_xla_api_version(*version)
    for platform in ("cpu", "CUDA"):
        _ffi.register_ffi_target("ridge_fft", _ridge.xla_handler(platform), platform=platform)


_register()


def _result(x, kind, length, adjoint):
    """Shape and type of the primitive's result."""
    shape, name = list(x.shape), np.dtype(x.dtype).name
    if kind in (_HALF, _SAMPLES):
        samples = (kind == _SAMPLES) != adjoint
        shape[-1] = length if samples else length // 2 + 1
        name = (_NARROW if samples else _WIDE)[name]
    return tuple(shape), np.dtype(name)


def _call(x, *, kind, count, length, scale, adjoint, real_kinds):
    shape, dtype = _result(x, kind, length, adjoint)
    return _ffi.ffi_call("ridge_fft", _jax.ShapeDtypeStruct(shape, dtype), vmap_method="broadcast_all")(
        x, kind=np.int64(kind), count=np.int64(count), length=np.int64(length), scale=np.float64(scale),
        adjoint=np.int64(adjoint), real_kinds=np.array(real_kinds, np.int64))


_linear_p = _Primitive("ridge_fft")


def _linear(x, kind, count, length, scale, adjoint=False, real_kinds=()):
    return _linear_p.bind(x, kind=kind, count=count, length=length, scale=scale, adjoint=adjoint, real_kinds=tuple(real_kinds))


def _abstract(x, *, kind, count, length, scale, adjoint, real_kinds):
    shape, dtype = _result(x, kind, length, adjoint)
    return _jax.core.ShapedArray(shape, dtype)


def _transpose(g, x, *, kind, count, length, scale, adjoint, real_kinds):
    """JAX needs A^T, the conjugate of A^H applied to the conjugate."""
    return [_jnp.conj(_linear(_jnp.conj(g), kind, count, length, scale, not adjoint, real_kinds))]


def _batch(values, dimensions, **how):
    return _linear_p.bind(_jnp.moveaxis(values[0], dimensions[0], 0), **how), 0


_linear_p.def_impl(lambda x, **how: _jax.jit(lambda x: _call(x, **how))(x))
_linear_p.def_abstract_eval(_abstract)
_mlir.register_lowering(_linear_p, _mlir.lower_fun(lambda x, **how: _call(x, **how), multiple_results=False))
_ad.deflinear2(_linear_p, _transpose)
_batching.primitive_batchers[_linear_p] = _batch


def _floating(x, complex_wanted):
    x = _jnp.asarray(x)
    name = np.dtype(x.dtype).name if x.dtype.name != "bfloat16" else "bfloat16"
    if name in ("float16", "bfloat16"):
        x = x.astype("float32")
    elif name not in _WIDE:
        x = x.astype(_jnp.zeros(0, "float64").dtype)  # float32 unless 64-bit types are enabled
    return x.astype(_WIDE[x.dtype.name]) if complex_wanted else x


def _fitted(x, lengths, axes):
    for n, axis in zip(lengths, axes):
        if x.shape[axis] > n:
            x = _jax.lax.slice_in_dim(x, 0, n, axis=axis)
        elif x.shape[axis] < n:
            x = _jnp.pad(x, [(0, n - x.shape[axis] if i == axis else 0) for i in range(x.ndim)])
    return x


def _along(x, axes, *how):
    """The primitive over the given axes, moved to the end and back."""
    last = tuple(range(x.ndim - len(axes), x.ndim))
    return _jnp.moveaxis(_linear(_jnp.moveaxis(x, axes, last), how[0], len(axes), *how[1:]), last, axes)


def _transform(x, s, axes, norm, kind, hermitian=False):
    x = _floating(x, kind != _HALF)
    if kind == _HALF and x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    lengths, axes = _shape_and_axes(x, s, axes, kind == _SAMPLES)
    if not axes:
        if kind in (_HALF, _SAMPLES):
            raise ValueError("at least 1 axis must be transformed")
        return x
    x = _fitted(x, [*lengths[:-1], lengths[-1] // 2 + 1] if kind == _SAMPLES else lengths, axes)
    scale = _scale(norm, _product(lengths), (kind in (_INVERSE, _SAMPLES)) != hermitian)
    if hermitian and kind == _SAMPLES:
        x = _jnp.conj(x)
    y = _along(x, axes, kind, lengths[-1], scale)
    return _jnp.conj(y) if hermitian and kind == _HALF else y


def _one(name, kind, hermitian=False):
    def call(x, n=None, axis=-1, norm=None):
        return _transform(x, None if n is None else [n], [axis], norm, kind, hermitian)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"As ridge.fft.{name}."
    return call


def _many(name, kind, hermitian=False):
    def call(x, s=None, axes=(-2, -1) if name.endswith("2") else None, norm=None):
        return _transform(x, s, axes, norm, kind, hermitian)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"As ridge.fft.{name}."
    return call


for _name, _kind, _hermitian in (("fft", _FORWARD, False), ("ifft", _INVERSE, False), ("rfft", _HALF, False),
                                 ("irfft", _SAMPLES, False), ("hfft", _SAMPLES, True), ("ihfft", _HALF, True)):
    globals()[_name] = _one(_name, _kind, _hermitian)
    for _suffix in ("2", "n"):
        globals()[_name + _suffix] = _many(_name + _suffix, _kind, _hermitian)


def _ends_scaled(x, axes, first, last):
    for axis in axes:
        if (first, last) != (1, 1):
            factors = np.ones(x.shape[axis])
            factors[0] *= first
            factors[-1] *= last
            x = x * _jnp.asarray(factors.reshape([-1 if i == axis else 1 for i in range(x.ndim)]), x.dtype)
    return x


def _real_to_real(x, type, s, axes, norm, orthogonalize, table, inverse):
    x = _floating(x, False)
    if x.dtype.kind == "c":
        return _jax.lax.complex(*[_real_to_real(part, type, s, axes, norm, orthogonalize, table, inverse)
                                  for part in (_jnp.real(x), _jnp.imag(x))])
    lengths, axes = _shape_and_axes(x, s, axes)
    if type not in table:
        raise ValueError(f"invalid type {type!r}: use 1, 2, 3 or 4")
    kind = _INVERSE_TYPE[type] if inverse else type
    if table is _DCT and kind == 1 and any(n < 2 for n in lengths):
        raise ValueError("DCT-I is not defined for size < 2")
    if not axes:
        return x
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    points = _product([2 * (n - 1) if table is _DCT and kind == 1 else 2 * (n + 1) if kind == 1 else 2 * n for n in lengths])
    before, after = _ends(kind, table) if orthogonalize else ((1, 1), (1, 1))
    x = _ends_scaled(_fitted(x, lengths, axes), axes, *before)
    y = _along(x, axes, _COSINE, 0, _scale(norm, points, inverse), False, (table[kind],) * len(axes))
    return _ends_scaled(y, axes, *after)


def _cosine(name, table):
    several, inverse = name.endswith("n"), name.startswith("i")
    if several:
        def call(x, type=2, s=None, axes=None, norm=None, orthogonalize=None):
            return _real_to_real(x, type, s, axes, norm, orthogonalize, table, inverse)
    else:
        def call(x, type=2, n=None, axis=-1, norm=None, orthogonalize=None):
            return _real_to_real(x, type, None if n is None else [n], [axis], norm, orthogonalize, table, inverse)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"As ridge.fft.{name}."
    return call


for _name in ("dct", "idct", "dctn", "idctn", "dst", "idst", "dstn", "idstn"):
    globals()[_name] = _cosine(_name, _DCT if "dct" in _name else _DST)
