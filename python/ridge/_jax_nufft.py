"""Nonuniform transforms inside JAX programs on the host and on CUDA: jit, grad, jvp, vmap, of any order.

One primitive, linear in its data. Its derivative by a coordinate is the primitive applied to data multiplied by i times a frequency,
and its transpose in the data is the other type with the same sign.
"""
import math

import jax as _jax
import jax.numpy as _jnp
import numpy as np
from jax.interpreters import ad as _ad, batching as _batching, mlir as _mlir

try:
    from jax.extend.core import Primitive as _Primitive
except ImportError:  # JAX before 0.4.36
    from jax.core import Primitive as _Primitive
try:
    from jax import ffi as _ffi
except ImportError:  # JAX before 0.5
    from jax.extend import ffi as _ffi

NAMES = tuple(f"nufft{axes}d{kind}" for axes in (1, 2, 3) for kind in (1, 2, 3))

_REAL = {"complex64": "float32", "complex128": "float64"}
_nonuniform_p = _Primitive("ridge_nufft")


def _bind(data, points, targets, kind, modes, **how):
    """The transform of data (sets, ...) with points and targets (axes, count); modes: of types 1 and 2."""
    operands = (data, points) if kind != 3 else (data, points, targets)
    return _nonuniform_p.bind(*operands, kind=kind, modes=tuple(modes), **how)


def _shape(data, points, *targets, kind, modes, **_):
    sets = data.shape[:1]
    return sets + (tuple(modes) if kind == 1 else points.shape[1:] if kind == 2 else targets[0].shape[1:])


def _call(*operands, kind, modes, sign, order, eps):
    shape = _shape(*operands, kind=kind, modes=modes)
    return _ffi.ffi_call("ridge_nufft", _jax.ShapeDtypeStruct(shape, operands[0].dtype))(
        *operands, type=np.int64(kind), sign=np.int64(sign), order=np.int64(order), eps=np.float64(eps))


def _frequencies(modes, axis, order, sign, dtype):
    """i times the sign times the frequencies along an axis, to be multiplied with modes."""
    n = modes[axis]
    k = np.arange(-(n // 2), (n + 1) // 2)
    k = np.roll(k, -(n // 2)) if order else k
    return _jnp.asarray(1j * sign * k.reshape([-1 if i == axis else 1 for i in range(len(modes))]), dtype)


def _jvp(primals, tangents, *, kind, modes, sign, order, eps):
    data, points, *targets = primals
    by_data, by_points, *by_targets = tangents
    how = {"kind": kind, "modes": modes, "sign": sign, "order": order, "eps": eps}
    target = targets[0] if targets else None

    def run(values):
        return _bind(values, points, target, **how)
    terms = [] if type(by_data) is _ad.Zero else [run(by_data)]
    turn = _jnp.asarray(1j * sign, data.dtype)
    for axis in range(points.shape[0]):
        if type(by_points) is not _ad.Zero:
            if kind == 2:
                terms.append(by_points[axis] * run(_frequencies(modes, axis, order, sign, data.dtype) * data))
            else:
                factor = _frequencies(modes, axis, order, sign, data.dtype) if kind == 1 else turn * target[axis]
                terms.append(factor * run(data * by_points[axis]))
        if by_targets and type(by_targets[0]) is not _ad.Zero:
            terms.append(by_targets[0][axis] * run(turn * points[axis] * data))
    out = run(data)
    return out, sum(terms[1:], terms[0]) if terms else _jnp.zeros_like(out)


def _transpose(g, data, points, *targets, kind, modes, sign, order, eps):
    if type(g) is _ad.Zero:
        return [_ad.Zero(data.aval)] + [None] * (1 + len(targets))
    how = {"modes": modes, "sign": sign, "order": order, "eps": eps}
    back = _bind(g, targets[0], points, kind=3, **how) if kind == 3 else _bind(g, points, None, kind=3 - kind, **how)
    return [back] + [None] * (1 + len(targets))


def _batch(operands, dimensions, **how):
    if all(d is None for d in dimensions[1:]):  # more sets of the same points
        data = _jnp.moveaxis(operands[0], dimensions[0], 0)
        out = _nonuniform_p.bind(data.reshape((data.shape[0] * data.shape[1],) + data.shape[2:]), *operands[1:], **how)
        return out.reshape(data.shape[:2] + out.shape[1:]), 0
    count = next(x.shape[d] for x, d in zip(operands, dimensions) if d is not None)
    moved = [_jnp.broadcast_to(x, (count,) + x.shape) if d is None else _jnp.moveaxis(x, d, 0) for x, d in zip(operands, dimensions)]
    return _jax.lax.map(lambda each: _nonuniform_p.bind(*each, **how), tuple(moved)), 0


_eager = _jax.jit(_call, static_argnames=("kind", "modes", "sign", "order", "eps"))  # compiled once per layout and arguments
_nonuniform_p.def_impl(_eager)
_nonuniform_p.def_abstract_eval(lambda *operands, **how: _jax.core.ShapedArray(_shape(*operands, **how), operands[0].dtype))
for _platform in ("cpu", "cuda"):
    _mlir.register_lowering(_nonuniform_p, _mlir.lower_fun(_call, multiple_results=False), platform=_platform)
_ad.primitive_jvps[_nonuniform_p] = _jvp
_ad.primitive_transposes[_nonuniform_p] = _transpose
_batching.primitive_batchers[_nonuniform_p] = _batch


def _run(kind, points, data, n_modes, targets, eps, isign, modeord):
    data = _jnp.asarray(data)
    if data.dtype.kind != "c":
        data = data.astype("complex64" if data.dtype.name in ("float16", "bfloat16", "float32") else _jnp.zeros(0, "complex128").dtype)
    real, axes = _REAL[data.dtype.name], len(points)

    def stacked(arrays, what):
        arrays = [_jnp.asarray(x) for x in arrays]
        if any(x.ndim != 1 or x.shape != arrays[0].shape or x.dtype.kind == "c" for x in arrays):
            raise ValueError(f"{what} must be real arrays of one axis and one length, got {[x.shape for x in arrays]}")
        return _jnp.stack([x.astype(real) for x in arrays])
    at = stacked(points, "points")
    to = None if targets is None else stacked(targets, "frequencies")
    held = axes if kind == 2 else 1
    if data.ndim < held:
        raise ValueError(f"the data need at least {held} axes, got {data.ndim}")
    sets, shape = data.shape[:data.ndim - held], data.shape[data.ndim - held:]
    if kind != 2 and shape != at.shape[1:]:
        raise ValueError(f"the data need one strength per point, {at.shape[1]}, got {shape[0]}")
    modes = shape if kind == 2 else () if kind == 3 else (n_modes,) * axes if np.ndim(n_modes) == 0 else tuple(n_modes)
    out = _bind(data.reshape((math.prod(sets),) + shape), at, to, kind, tuple(int(n) for n in modes), sign=1 if isign >= 0 else -1,
                order=int(modeord), eps=float(eps))
    return out.reshape(sets + out.shape[1:])


def nufft1d1(x, c, n_modes, eps=1e-6, isign=1, *, modeord=0):
    """Type 1 in one dimension: f[k] = sum of c[j] exp(isign i k x[j])."""
    return _run(1, (x,), c, n_modes, None, eps, isign, modeord)


def nufft2d1(x, y, c, n_modes, eps=1e-6, isign=1, *, modeord=0):
    """Type 1 in two dimensions."""
    return _run(1, (x, y), c, n_modes, None, eps, isign, modeord)


def nufft3d1(x, y, z, c, n_modes, eps=1e-6, isign=1, *, modeord=0):
    """Type 1 in three dimensions."""
    return _run(1, (x, y, z), c, n_modes, None, eps, isign, modeord)


def nufft1d2(x, f, eps=1e-6, isign=-1, *, modeord=0):
    """Type 2 in one dimension: c[j] = sum of f[k] exp(isign i k x[j])."""
    return _run(2, (x,), f, None, None, eps, isign, modeord)


def nufft2d2(x, y, f, eps=1e-6, isign=-1, *, modeord=0):
    """Type 2 in two dimensions."""
    return _run(2, (x, y), f, None, None, eps, isign, modeord)


def nufft3d2(x, y, z, f, eps=1e-6, isign=-1, *, modeord=0):
    """Type 2 in three dimensions."""
    return _run(2, (x, y, z), f, None, None, eps, isign, modeord)


def nufft1d3(x, c, s, eps=1e-6, isign=1):
    """Type 3 in one dimension: f[k] = sum of c[j] exp(isign i s[k] x[j])."""
    return _run(3, (x,), c, None, (s,), eps, isign, 0)


def nufft2d3(x, y, c, s, t, eps=1e-6, isign=1):
    """Type 3 in two dimensions."""
    return _run(3, (x, y), c, None, (s, t), eps, isign, 0)


def nufft3d3(x, y, z, c, s, t, u, eps=1e-6, isign=1):
    """Type 3 in three dimensions."""
    return _run(3, (x, y, z), c, None, (s, t, u), eps, isign, 0)
