"""Transforms inside JAX programs through XLA's foreign function interface: jit, grad, jvp, vmap, hessian.

    import jax, ridge.jax
    power = lambda x: (abs(ridge.jax.rfft(x)) ** 2).sum()
    jax.jit(jax.grad(power))(x)

Names and arguments are those of ridge.fft; nufft1d1 .. nufft3d3 have gradients by points too. All transforms are one linear
primitive, whose transpose is the primitive again. On CUDA they run on the first device.
"""
import os
import re

import jax as _jax
import jax.numpy as _jnp
import numpy as np
from jax.interpreters import ad as _ad, batching as _batching, mlir as _mlir

from . import _ridge
from ._transforms import HALF as _HALF, NAMES as _NAMES, SAMPLES as _SAMPLES, Operators as _Operators, define as _define, \
    parts as _parts

try:
    from jax.extend.core import Primitive as _Primitive
except ImportError:  # JAX before 0.4.36
    from jax.core import Primitive as _Primitive
try:
    from jax import ffi as _ffi
except ImportError:  # JAX before 0.5
    from jax.extend import ffi as _ffi

from ._jax_nufft import NAMES as _NONUNIFORM, nufft1d1, nufft1d2, nufft1d3, nufft2d1, nufft2d2, nufft2d3, nufft3d1, nufft3d2, nufft3d3

__all__ = [*_NAMES, *_NONUNIFORM]

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
        _ffi.register_ffi_target("ridge_nufft", _ridge.xla_nufft_handler(platform), platform=platform)


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


# One function for all calls outside jit: JAX keeps what it has compiled per function, layout and static arguments.
_eager = _jax.jit(_call, static_argnames=("kind", "count", "length", "scale", "adjoint", "real_kinds"))
_linear_p.def_impl(_eager)
_linear_p.def_abstract_eval(_abstract)
_mlir.register_lowering(_linear_p, _mlir.lower_fun(lambda x, **how: _call(x, **how), multiple_results=False))
_ad.deflinear2(_linear_p, _transpose)
_batching.primitive_batchers[_linear_p] = _batch


class _Arrays(_Operators):
    """JAX's part of the transforms."""

    def floating(self, x, complex_wanted):
        x = _jnp.asarray(x)
        name = x.dtype.name
        if name in ("float16", "bfloat16"):
            x = x.astype("float32")
        elif name not in _WIDE:
            x = x.astype(_jnp.zeros(0, "float64").dtype)  # float32 unless 64-bit types are enabled
        return x.astype(_WIDE[x.dtype.name]) if complex_wanted else x

    def is_complex(self, x):
        return x.dtype.kind == "c"

    def conj(self, x):
        return _jnp.conj(x)

    def fitted(self, x, n, axis):
        if x.shape[axis] > n:
            return _jax.lax.slice_in_dim(x, 0, n, axis=axis)
        return _jnp.pad(x, [(0, n - x.shape[axis] if i == axis else 0) for i in range(x.ndim)])

    def linear(self, x, axes, kind, real_kinds, length, scale):
        """Applies the primitive, which transforms the last axes: moves the axes to the end, and to their places afterwards."""
        for kind_, some, kinds, n, factor in _parts(kind, axes, real_kinds, length, scale):
            last = tuple(range(x.ndim - len(some), x.ndim))
            x = _jnp.moveaxis(_linear(_jnp.moveaxis(x, some, last), kind_, len(some), n, factor, False, kinds), last, some)
        return x

    def scaled_ends(self, x, axis, first, last):
        factors = np.ones(x.shape[axis])
        factors[0] *= first
        factors[-1] *= last
        return x * _jnp.asarray(factors.reshape([-1 if i == axis else 1 for i in range(x.ndim)]), x.dtype)

    def of_parts(self, function, x):
        return _jax.lax.complex(function(_jnp.real(x)), function(_jnp.imag(x)))


_define(globals(), _Arrays(), dim=False)
