"""Nonuniform transforms of PyTorch tensors on the CPU and on CUDA, with gradients by strengths or modes, points and frequencies.

A transform is linear in its data, and its derivative by a coordinate is a transform of data multiplied by i times a frequency. So
derivatives of any order and forward mode are transforms again. First derivatives of types 1 and 2 take one pass over the points that
gives values and derivatives.
"""
import math

import torch as _torch

from . import nufft as _nufft
from ._cuda_nufft import Nonuniform as _OnCuda
from ._torch_tensors import Tensors as _Tensors

NAMES = tuple(f"nufft{axes}d{kind}" for axes in (1, 2, 3) for kind in (1, 2, 3))

_COMPLEX = {_torch.float32: _torch.complex64, _torch.float64: _torch.complex128,
            _torch.complex64: _torch.complex64, _torch.complex128: _torch.complex128}
_REAL = {_torch.complex64: _torch.float32, _torch.complex128: _torch.float64}


class _How:
    """A transform apart from its tensors: type, modes, sign and options of the plan."""

    def __init__(self, kind, n_modes, sign, options):
        self.kind, self.n_modes, self.sign, self.options = kind, n_modes, sign, options

    def adjoint(self):
        """Of the other type, with the other sign."""
        return _How({1: 2, 2: 1, 3: 3}[self.kind], self.n_modes, -self.sign, self.options)

    def frequencies(self, axis, like):
        """i times the sign times the frequencies along an axis, to be multiplied with modes."""
        n = self.n_modes[axis]
        k = _torch.arange(-(n // 2), (n + 1) // 2, dtype=_REAL[like.dtype], device=like.device)
        if self.options["modeord"]:
            k = k.roll(-(n // 2))
        return 1j * self.sign * k.reshape([-1 if i == axis else 1 for i in range(len(self.n_modes))])


def _plain(x):
    return x.detach().resolve_conj().resolve_neg().contiguous()


def _array(x):
    return _plain(x).numpy()


class _OnHost:
    """A plan of ridge.nufft, of tensors."""

    def __init__(self, plan):
        self.plan = plan

    def execute(self, data):
        return _torch.from_numpy(self.plan.execute(data.numpy()))

    def execute_adjoint(self, data):
        return _torch.from_numpy(self.plan.execute_adjoint(data.numpy()))

    def gradients(self, data, cotangent):
        by_data, by_points = self.plan.gradients(data.numpy(), cotangent.numpy())
        return _torch.from_numpy(by_data), _torch.from_numpy(by_points)


def _planned(data, points, targets, how):
    """A plan with its points sorted."""
    if data.is_cuda:
        options = how.options
        rows = [list(_plain(x)) if x is not None else None for x in (points, targets)]
        eps = _nufft._tolerance(options["eps"], len(points), data.dtype == _torch.complex64, False)
        return _OnCuda(_Tensors(), how.kind, how.n_modes or (), data.shape[0], eps, how.sign, options["modeord"],
                       _nufft._upsampling(options["upsampfac"]), *rows)
    size = len(points) if how.kind == 3 else how.n_modes
    options = {key: value for key, value in how.options.items() if how.kind != 3 or key in ("eps", "nthreads")}
    if how.kind != 3:
        options["points"] = points.shape[1]
    plan = _nufft.Plan(how.kind, size, data.shape[0], isign=how.sign, dtype=str(data.dtype).partition(".")[2], **options)
    missing = (None,) * (3 - len(points))
    if how.kind == 3:
        plan.setpts(*_array(points), *missing, *_array(targets))
    else:
        plan.setpts(*_array(points))
    return _OnHost(plan)


class _Nonuniform(_torch.autograd.Function):
    """data (sets, ...), points (axes, count) and, for type 3, targets (axes, count)."""

    @staticmethod
    def forward(ctx, data, points, targets, how):
        ctx.how, ctx.plan = how, _planned(data, points, targets, how)
        ctx.save_for_backward(data, points, targets)
        ctx.save_for_forward(data, points, targets)
        return ctx.plan.execute(_plain(data))

    @staticmethod
    def backward(ctx, g):
        data, points, targets = ctx.saved_tensors
        how = ctx.how
        if how.kind != 3 and ctx.needs_input_grad[1] and not _torch.is_grad_enabled():
            return (*ctx.plan.gradients(_plain(data), _plain(g)), None, None)
        if how.kind == 3:
            back = lambda values: _apply(values, targets, points, how.adjoint())  # noqa: E731
        elif _torch.is_grad_enabled():
            back = lambda values: _apply(values, points, None, how.adjoint())  # noqa: E731
        else:
            back = lambda values: ctx.plan.execute_adjoint(_plain(values))  # noqa: E731
        by_data = back(g) if ctx.needs_input_grad[0] else None
        by_points = by_targets = None
        if ctx.needs_input_grad[1]:
            by_points = _torch.stack([_slope(data, g, points, targets, how, axis) for axis in range(len(points))])
        if targets is not None and ctx.needs_input_grad[2]:
            by_targets = _torch.stack([
                (g.conj() * _apply(1j * how.sign * x * data, points, targets, how)).real.sum(0) for x in points])
        return by_data, by_points, by_targets, None

    @staticmethod
    def jvp(ctx, d_data, d_points, d_targets, _):
        data, points, targets = ctx.saved_tensors
        how = ctx.how
        total = None

        def add(term):
            nonlocal total
            total = term if total is None else total + term
        if d_data is not None:
            add(_apply(d_data, points, targets, how))
        for axis in range(len(points)):
            if d_points is not None:
                if how.kind == 2:
                    add(d_points[axis] * _apply(how.frequencies(axis, data) * data, points, targets, how))
                else:
                    factor = how.frequencies(axis, data) if how.kind == 1 else 1j * how.sign * targets[axis]
                    add(factor * _apply(data * d_points[axis], points, targets, how))
            if d_targets is not None:
                add(d_targets[axis] * _apply(1j * how.sign * points[axis] * data, points, targets, how))
        return total


def _slope(data, g, points, targets, how, axis):
    """Gradient by the coordinates of the points along an axis, as a function that can be differentiated again."""
    if how.kind == 2:
        return (g.conj() * _apply(how.frequencies(axis, data) * data, points, None, how)).real.sum(0)
    back = how.adjoint()
    if how.kind == 1:
        u = _apply(back.frequencies(axis, g) * g, points, None, back)
    else:
        u = _apply(1j * back.sign * targets[axis] * g, targets, points, back)
    return (data * u.conj()).real.sum(0)


def _apply(data, points, targets, how):
    return _Nonuniform.apply(data, points, targets, how)


def _tensor(x, what):
    if not isinstance(x, _torch.Tensor):
        raise TypeError(f"ridge.torch needs tensors, got {type(x).__name__} for {what}: use ridge.nufft for other arrays")
    if x.device.type not in ("cpu", "cuda"):
        raise ValueError(f"ridge.torch transforms tensors on the CPU and on CUDA, got {what} on {x.device}")
    return x


def _run(kind, points, data, n_modes, targets, eps, isign, modeord, upsampfac, nthreads):
    data = _tensor(data, "the data")
    if data.dtype not in _COMPLEX:
        raise TypeError(f"the data must be float32, float64, complex64 or complex128, got {data.dtype}")
    data = data.to(_COMPLEX[data.dtype])
    real, axes = _REAL[data.dtype], len(points)

    def stacked(arrays, what):
        arrays = [_tensor(x, what) for x in arrays]
        if any(x.device != data.device for x in arrays):
            raise ValueError(f"{what} and the data must be on one device, got {sorted({str(x.device) for x in [data, *arrays]})}")
        if any(x.ndim != 1 or x.shape != arrays[0].shape or x.dtype.is_complex for x in arrays):
            raise ValueError(f"{what} must be real tensors of one axis and one length, got {[tuple(x.shape) for x in arrays]}")
        return _torch.stack([x.to(real) for x in arrays])
    at = stacked(points, "points")
    to = None if targets is None else stacked(targets, "frequencies")
    if kind == 1:
        n_modes = (n_modes,) * axes if isinstance(n_modes, int) else tuple(n_modes)
    held = axes if kind == 2 else 1
    if data.ndim < held:
        raise ValueError(f"the data need at least {held} axes, got {data.ndim}")
    sets, shape = data.shape[:data.ndim - held], tuple(data.shape[data.ndim - held:])
    if kind == 2:
        n_modes = shape
    elif shape != tuple(at.shape[1:]):
        raise ValueError(f"the data need one strength per point, {at.shape[1]}, got {shape[0]}")
    how = _How(kind, n_modes, 1 if isign >= 0 else -1,
               {"eps": float(eps), "modeord": modeord, "upsampfac": upsampfac, "nthreads": nthreads})
    out = _apply(data.reshape(math.prod(sets), *shape), at, to, how)
    return out.reshape(*sets, *out.shape[1:])


def nufft1d1(x, c, n_modes, eps=1e-6, isign=1, *, modeord=0, upsampfac=0.0, nthreads=0):
    """Type 1 in one dimension: f[k] = sum of c[j] exp(isign i k x[j])."""
    return _run(1, (x,), c, n_modes, None, eps, isign, modeord, upsampfac, nthreads)


def nufft2d1(x, y, c, n_modes, eps=1e-6, isign=1, *, modeord=0, upsampfac=0.0, nthreads=0):
    """Type 1 in two dimensions."""
    return _run(1, (x, y), c, n_modes, None, eps, isign, modeord, upsampfac, nthreads)


def nufft3d1(x, y, z, c, n_modes, eps=1e-6, isign=1, *, modeord=0, upsampfac=0.0, nthreads=0):
    """Type 1 in three dimensions."""
    return _run(1, (x, y, z), c, n_modes, None, eps, isign, modeord, upsampfac, nthreads)


def nufft1d2(x, f, eps=1e-6, isign=-1, *, modeord=0, upsampfac=0.0, nthreads=0):
    """Type 2 in one dimension: c[j] = sum of f[k] exp(isign i k x[j])."""
    return _run(2, (x,), f, None, None, eps, isign, modeord, upsampfac, nthreads)


def nufft2d2(x, y, f, eps=1e-6, isign=-1, *, modeord=0, upsampfac=0.0, nthreads=0):
    """Type 2 in two dimensions."""
    return _run(2, (x, y), f, None, None, eps, isign, modeord, upsampfac, nthreads)


def nufft3d2(x, y, z, f, eps=1e-6, isign=-1, *, modeord=0, upsampfac=0.0, nthreads=0):
    """Type 2 in three dimensions."""
    return _run(2, (x, y, z), f, None, None, eps, isign, modeord, upsampfac, nthreads)


def nufft1d3(x, c, s, eps=1e-6, isign=1, *, nthreads=0):
    """Type 3 in one dimension: f[k] = sum of c[j] exp(isign i s[k] x[j])."""
    return _run(3, (x,), c, None, (s,), eps, isign, 0, 0.0, nthreads)


def nufft2d3(x, y, c, s, t, eps=1e-6, isign=1, *, nthreads=0):
    """Type 3 in two dimensions."""
    return _run(3, (x, y), c, None, (s, t), eps, isign, 0, 0.0, nthreads)


def nufft3d3(x, y, z, c, s, t, u, eps=1e-6, isign=1, *, nthreads=0):
    """Type 3 in three dimensions."""
    return _run(3, (x, y, z), c, None, (s, t, u), eps, isign, 0, 0.0, nthreads)
