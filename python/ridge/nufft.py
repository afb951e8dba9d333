"""Nonuniform Fourier transforms of types 1, 2 and 3, with the names and arguments of FINUFFT.

>>> import numpy as np
>>> from ridge import nufft
>>> x = np.array([0.0, 1.0])
>>> modes = nufft.nufft1d1(x, np.array([1.0, 2.0j]), 5, eps=1e-9)      # frequencies -2 ... 2
>>> bool(np.allclose(modes, np.exp(1j * np.outer(np.arange(-2, 3), x)) @ np.array([1, 2j])))
True
"""
import numpy as np

from . import _ridge
from ._picture import Shown
from .array import device_name

__all__ = ["Plan", "Normal", "nufft1d1", "nufft1d2", "nufft1d3", "nufft2d1", "nufft2d2", "nufft2d3", "nufft3d1", "nufft3d2", "nufft3d3"]


def _real(dtype):
    dtype = np.dtype(dtype)
    if dtype in (np.complex64, np.float32):
        return np.float32
    if dtype in (np.complex128, np.float64):
        return np.float64
    raise TypeError(f"dtype must be complex64 or complex128, got {dtype}")


def _coordinates(arrays, real, what):
    axes = [np.ascontiguousarray(a, real) for a in arrays if a is not None]
    if any(axis.ndim != 1 for axis in axes):
        raise ValueError(f"{what} must be arrays of one dimension")
    return axes


def _problem(nufft_type, n_modes, eps, sign, n_trans, modeord, upsampfac, nthreads, points, real=False):
    return {"type": nufft_type, "modes": n_modes, "points": points, "epsilon": float(eps), "sign": 1 if sign >= 0 else -1,
            "batch": n_trans, "fft_order": bool(modeord), "upsampling": float(upsampfac), "threads": nthreads, "real": bool(real)}


class Plan(Shown):
    """A plan of one transform, for any number of point sets and runs.

    nufft_type: 1 (points to modes), 2 (modes to points) or 3 (points to frequencies anywhere). n_modes_or_dim: modes per axis, an
    int or a tuple; type 3: the number of axes. n_trans: sets of strengths that share the points. eps: relative error. isign: sign
    of the exponent; by default +1 for types 1 and 3, -1 for type 2. dtype: complex128 or complex64. modeord: 0 for ascending
    frequencies, 1 for the order of numpy.fft. upsampfac: 2.25, 2, 1.5, 1.25 or 0 (planned). nthreads: 0 for all. points: how many are
    expected, for the planner. real: strengths and values at the points are real, about half the work; type 2 gives the real part.
    """

    def __init__(self, nufft_type, n_modes_or_dim, n_trans=1, eps=1e-6, isign=None, dtype="complex128", *, modeord=0, upsampfac=0.0,
                 nthreads=0, points=0, device="host", measured=False, real=False):
        if nufft_type not in (1, 2, 3):
            raise ValueError(f"nufft_type must be 1, 2 or 3, got {nufft_type}")
        self._real = _real(dtype)
        self.type, self.n_trans, self.real = nufft_type, n_trans, bool(real)
        self.dtype = np.dtype(np.complex64 if self._real == np.float32 else np.complex128)
        self.isign = isign if isign is not None else (-1 if nufft_type == 2 else 1)
        number = "Float" if self._real == np.float32 else "Double"
        if nufft_type == 3:
            if real:
                raise ValueError("type 3 has complex strengths only: use real=False")
            self.n_modes = None
            made = getattr(_ridge, "NufftType3" + number)
            self._plan = made(device_name(device), n_modes_or_dim, float(eps), 1 if self.isign >= 0 else -1, n_trans, nthreads)
            return
        n_modes = (n_modes_or_dim,) if np.ndim(n_modes_or_dim) == 0 else n_modes_or_dim
        self.n_modes = tuple(int(n) for n in n_modes)
        problem = _problem(nufft_type, self.n_modes, eps, self.isign, n_trans, modeord, upsampfac, nthreads, points, real)
        self._plan = getattr(_ridge, "NufftPlan" + number)(device_name(device), problem, measured)

    @property
    def device(self):
        return self._plan.device()

    def setpts(self, x=None, y=None, z=None, s=None, t=None, u=None):
        """Sorts the points for all later runs: one array per axis; type 3 also takes the frequencies s, t, u."""
        points = _coordinates((x, y, z), self._real, "x, y and z")
        if self.type == 3:
            self._plan.set_points(points, _coordinates((s, t, u), self._real, "s, t and u"))
        else:
            self._plan.set_points(points)

    def execute(self, data, out=None):
        """Transforms strengths (types 1 and 3) or modes (type 2); with n_trans > 1, sets of them along the first axis."""
        return self._run(data, out, False)

    def execute_adjoint(self, data, out=None):
        """The adjoint (conjugate transpose) of execute()."""
        return self._run(data, out, True)

    def _shapes(self):
        """Shapes of the input and the output of execute(), of one set."""
        at_points = (self._plan.points(),)
        if self.type == 3:
            return at_points, (self._plan.frequencies(),)
        return (at_points, self.n_modes) if self.type == 1 else (self.n_modes, at_points)

    def _given(self, data, shape, what, real=False):
        if real and np.iscomplexobj(data):
            raise TypeError(f"{what} must be real in a plan with real=True, got {np.asarray(data).dtype}")
        data = np.ascontiguousarray(data, self._real if real else self.dtype)
        wanted = (self.n_trans,) + shape
        if data.shape != wanted and not (self.n_trans == 1 and data.shape == shape):
            raise ValueError(f"{what} must have the shape {shape if self.n_trans == 1 else wanted}, got {data.shape}")
        return data

    def _run(self, data, out, adjoint):
        shape, made = self._shapes()[::-1] if adjoint else self._shapes()
        to_modes = (self.type == 1) != adjoint
        data = self._given(data, shape, "the input", self.real and to_modes)
        sets = () if data.ndim == len(shape) else (self.n_trans,)
        if out is None:
            out = np.empty(sets + made, self._real if self.real and not to_modes else self.dtype)
        elif _output(out).shape != sets + made:
            raise ValueError(f"the output must have the shape {sets + made}, got {out.shape}")
        (self._plan.run_real if self.real else self._plan.run)(data, out, adjoint)
        return out

    def slopes(self, modes):
        """Values of the modes at the points, and their derivatives by each coordinate (axes first).

        Types 1 and 2; the sign is that of execute() for type 2, that of execute_adjoint() for type 1.
        """
        if self.type == 3:
            raise ValueError("slopes() needs a plan of type 1 or 2, got type 3")
        modes = self._given(modes, self.n_modes, "the modes")
        sets = () if modes.ndim == len(self.n_modes) else (self.n_trans,)
        values = np.empty(sets + (self._plan.points(),), self.dtype)
        slopes = np.empty((len(self.n_modes),) + values.shape, self.dtype)
        self._plan.slopes(modes, values, slopes)
        return values, slopes

    def gradients(self, data, cotangent):
        """Gradients of a real loss by the input of execute() and by each coordinate of the points.

        cotangent: gradient of the loss by the output, g with dL = Re(sum(conj(g) d(output))). Returns (by_data, by_points), the
        second with one row per axis, summed over the sets.
        """
        if self.type == 1:
            data = self._given(data, self._shapes()[0], "the strengths")
            by_data, slopes = self.slopes(cotangent)
            by_points = np.real(data * np.conj(slopes))
        else:
            by_data = self.execute_adjoint(cotangent)
            by_points = np.real(np.conj(self._given(cotangent, self._shapes()[1], "the cotangent")) * self.slopes(data)[1])
        return by_data, by_points if by_points.ndim == 2 else by_points.sum(axis=1)


class Normal:
    """The operator A* W A of a type 2 transform A, as one convolution: normal(modes). Needs no points after it is made.

    points: one array per axis. weights: one real number per point, or None for 1. isign: that of the type 2 transform.
    """

    def __init__(self, n_modes, points, weights=None, eps=1e-6, isign=-1, dtype="complex128", *, modeord=0, nthreads=0,
                 device="host"):
        real = _real(dtype)
        self.dtype = np.dtype(np.complex64 if real == np.float32 else np.complex128)
        n_modes = (n_modes,) if np.ndim(n_modes) == 0 else n_modes
        self.n_modes = tuple(int(n) for n in n_modes)
        points = _coordinates(points, real, "points")
        problem = _problem(2, self.n_modes, eps, isign, 1, modeord, 0.0, nthreads, 0)
        made = _ridge.NufftNormalFloat if real == np.float32 else _ridge.NufftNormalDouble
        self._normal = made(device_name(device), problem, points, [] if weights is None else _coordinates([weights], real, "weights"))

    def __call__(self, modes, out=None):
        modes = np.ascontiguousarray(modes, self.dtype)
        out = np.empty(self.n_modes, self.dtype) if out is None else _output(out)
        if modes.shape != self.n_modes or out.shape != self.n_modes:
            raise ValueError(f"modes and out must have the shape {self.n_modes}, got {modes.shape} and {out.shape}")
        self._normal.run(modes, out)
        return out


def _output(out):
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    return out


def _dtype_of(data):
    return np.complex64 if np.asarray(data).dtype in (np.complex64, np.float32) else np.complex128


def _to_modes(points, c, n_modes, out, eps, isign, options):
    c = np.asarray(c)
    if n_modes is None:
        if out is None:
            raise ValueError("type 1 needs n_modes or out")
        n_modes = _output(out).shape[-len(points):]
    if np.ndim(n_modes) == 0:
        n_modes = (n_modes,) * len(points)
    options = {"real": c.dtype in (np.float32, np.float64), **options}
    plan = Plan(1, n_modes, 1 if c.ndim < 2 else c.shape[0], eps, isign, _dtype_of(c), points=np.size(points[0]), **options)
    plan.setpts(*points)
    return plan.execute(c, out)


def _to_points(points, f, out, eps, isign, options):
    f = np.asarray(f)
    axes = len(points)
    if f.ndim not in (axes, axes + 1):
        raise ValueError(f"the modes must have {axes} axes, or {axes + 1} for several sets, got {f.ndim}")
    sets = 1 if f.ndim == axes else f.shape[0]
    plan = Plan(2, f.shape[-axes:], sets, eps, isign, _dtype_of(f), points=np.size(points[0]), **options)
    plan.setpts(*points)
    return plan.execute(f, out)


def _to_frequencies(points, c, frequencies, out, eps, isign, options):
    c = np.asarray(c)
    plan = Plan(3, len(points), 1 if c.ndim < 2 else c.shape[0], eps, isign, _dtype_of(c), **options)
    missing = (None,) * (3 - len(points))
    plan.setpts(*points, *missing, *frequencies)
    return plan.execute(c, out)


def nufft1d1(x, c, n_modes=None, out=None, eps=1e-6, isign=1, **options):
    """Type 1 in one dimension: f[k] = sum of c[j] exp(isign i k x[j])."""
    return _to_modes((x,), c, n_modes, out, eps, isign, options)


def nufft2d1(x, y, c, n_modes=None, out=None, eps=1e-6, isign=1, **options):
    """Type 1 in two dimensions: f[k, l] = sum of c[j] exp(isign i (k x[j] + l y[j]))."""
    return _to_modes((x, y), c, n_modes, out, eps, isign, options)


def nufft3d1(x, y, z, c, n_modes=None, out=None, eps=1e-6, isign=1, **options):
    """Type 1 in three dimensions."""
    return _to_modes((x, y, z), c, n_modes, out, eps, isign, options)


def nufft1d2(x, f, out=None, eps=1e-6, isign=-1, **options):
    """Type 2 in one dimension: c[j] = sum of f[k] exp(isign i k x[j])."""
    return _to_points((x,), f, out, eps, isign, options)


def nufft2d2(x, y, f, out=None, eps=1e-6, isign=-1, **options):
    """Type 2 in two dimensions."""
    return _to_points((x, y), f, out, eps, isign, options)


def nufft3d2(x, y, z, f, out=None, eps=1e-6, isign=-1, **options):
    """Type 2 in three dimensions."""
    return _to_points((x, y, z), f, out, eps, isign, options)


def nufft1d3(x, c, s, out=None, eps=1e-6, isign=1, **options):
    """Type 3 in one dimension: f[k] = sum of c[j] exp(isign i s[k] x[j])."""
    return _to_frequencies((x,), c, (s,), out, eps, isign, options)


def nufft2d3(x, y, c, s, t, out=None, eps=1e-6, isign=1, **options):
    """Type 3 in two dimensions."""
    return _to_frequencies((x, y), c, (s, t), out, eps, isign, options)


def nufft3d3(x, y, z, c, s, t, u, out=None, eps=1e-6, isign=1, **options):
    """Type 3 in three dimensions."""
    return _to_frequencies((x, y, z), c, (s, t, u), out, eps, isign, options)
