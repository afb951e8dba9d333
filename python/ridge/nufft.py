"""Nonuniform Fourier transforms of types 1, 2 and 3, with the names and arguments of FINUFFT.

>>> import numpy as np
>>> from ridge import nufft
>>> x = np.array([0.0, 1.0])
>>> modes = nufft.nufft1d1(x, np.array([1.0, 2.0j]), 5, eps=1e-9)      # frequencies -2 ... 2
>>> bool(np.allclose(modes, np.exp(1j * np.outer(np.arange(-2, 3), x)) @ np.array([1, 2j])))
True

The functions nufft1d1 to nufft3d3 accept CuPy arrays, too, which are transformed where they are, on CUDA.
"""
import contextlib
import operator
import warnings

import numpy as np

from . import _cuda, _ridge
from ._cuda_nufft import Nonuniform as _OnCuda, nearest_upsampling as _nearest_upsampling
from ._library import library_of
from ._pickled import Pickled
from ._picture import Shown
from .array import device_name

__all__ = ["Plan", "Normal", "NufftError", "nufft1d1", "nufft1d2", "nufft1d3", "nufft2d1", "nufft2d2", "nufft2d3", "nufft3d1", "nufft3d2", "nufft3d3"]


class NufftError(ValueError, RuntimeError):
    """A wrong argument. FINUFFT raises RuntimeError for most of them, so programs written for it catch this error."""


class _WrongType(TypeError, NufftError):
    """An array or a dtype of a wrong type."""


@contextlib.contextmanager
def _refusals():
    """Raises the library's refusals as NufftError."""
    try:
        yield
    except ValueError as error:
        raise NufftError(*error.args) from None


# FINUFFT's options that change only how it computes.
_OF_FINUFFT = {"debug", "spread_debug", "showwarn", "fftw", "spread_sort", "spread_kerevalmeth", "spread_kerpad", "spread_thread",
               "maxbatchsize", "spread_nthr_atomic", "spread_max_sp_size", "spread_kerformula"}
_LARGEST_EPS = 0.1


def _check_options(options):
    if options.pop("spreadinterponly", 0):
        raise NufftError("spreadinterponly is not supported: a plan computes whole transforms only")
    for name in options:
        if name not in _OF_FINUFFT:
            warnings.warn(f'ridge.nufft has no option "{name}": it is ignored', stacklevel=3)


def _upsampling(factor):
    """The supported factor nearest to the given one: FINUFFT accepts any above 1. 0: the planner chooses."""
    if factor == 0:
        return 0.0
    if not factor > 1:
        raise NufftError(f"upsampfac must be above 1, or 0 to let the planner choose, got {factor}")
    return _nearest_upsampling(factor)


def _tolerance(eps, axes, single, allow_small, parts=1.0):
    """Any eps above the largest that a plan has gives that one; too small ones are refused unless asked for.

    parts: type 3 consists of two transforms, each with an error of eps / 1.5.
    """
    eps = float(eps)
    if allow_small and eps >= 0:
        eps = max(eps, parts * _ridge.nufft_least_epsilon(single, axes))
    return _LARGEST_EPS if _LARGEST_EPS < eps < float("inf") else eps


def _real(dtype):
    dtype = np.dtype(dtype)
    if dtype in (np.complex64, np.float32):
        return np.float32
    if dtype in (np.complex128, np.float64):
        return np.float64
    raise _WrongType(f"dtype must be complex64 or complex128, got {dtype}")


def _coordinates(arrays, real, what):
    axes = []
    for given in arrays:
        if given is None:
            continue
        if np.iscomplexobj(given):
            raise _WrongType(f"{what} must be real, got {np.asarray(given).dtype}")
        axes.append(np.ascontiguousarray(given, real))
        if np.ndim(given) != 1:
            raise NufftError(f"{what} must be arrays of one dimension, got one of {np.ndim(given)}")
    return axes


def _integers(values, what):
    try:
        return tuple(operator.index(n) for n in values)
    except TypeError:
        raise _WrongType(f"{what} must be an integer or a tuple of integers, got {tuple(values)!r}") from None


def _problem(nufft_type, n_modes, eps, sign, n_trans, modeord, upsampfac, nthreads, points, real=False, fold=True):
    return {"type": nufft_type, "modes": n_modes, "points": points, "epsilon": float(eps), "sign": 1 if sign >= 0 else -1,
            "batch": n_trans, "fft_order": bool(modeord), "upsampling": _upsampling(upsampfac), "threads": nthreads, "real": bool(real),
            "fold": bool(fold)}


class Plan(Pickled, Shown):
    """A plan of one transform, for any number of point sets and runs.

    nufft_type: 1 (points to modes), 2 (modes to points) or 3 (points to frequencies anywhere). n_modes_or_dim: modes per axis, an
    int or a tuple; type 3: the number of axes. n_trans: sets of strengths that share the points. eps: relative error; above 0.1 it is 0.1.
    isign: sign of the exponent; by default +1 for types 1 and 3, -1 for type 2. dtype: complex128 or complex64. modeord: 0 for ascending
    frequencies, 1 for the order of numpy.fft. upsampfac: the nearest of 2.25, 2, 1.5 and 1.25, or 0 (planned). nthreads: 0 for all.
    allow_eps_too_small: a smaller eps than the type can have is the smallest that it can have. points: how many are expected, for the
    planner. real: strengths and values at the points are real, about half the work; type 2 gives the real part. fold: coordinates
    outside [-pi, pi] are folded into the period, or (False) refused. FINUFFT's other options have no effect.
    """

    def __init__(self, nufft_type, n_modes_or_dim, n_trans=1, eps=1e-6, isign=None, dtype="complex128", *, modeord=0, upsampfac=0.0,
                 nthreads=0, allow_eps_too_small=0, points=0, device="host", measured=False, real=False, fold=True, **options):
        if nufft_type not in (1, 2, 3):
            raise NufftError(f"nufft_type must be 1, 2 or 3, got {nufft_type}")
        _check_options(options)
        self._real = _real(dtype)
        self._type, self._n_trans, self.real, self._has_points = nufft_type, n_trans, bool(real), False
        self._dtype = np.dtype(np.complex64 if self._real == np.float32 else np.complex128)
        self.isign = isign if isign is not None else (-1 if nufft_type == 2 else 1)
        single = self._real == np.float32
        number = "Float" if single else "Double"
        if nufft_type == 3:
            if real:
                raise NufftError("type 3 has complex strengths only: use real=False")
            self._n_modes = None
            if not isinstance(n_modes_or_dim, (int, np.integer)):
                raise _WrongType(f"type 3 needs the number of axes, an integer, got {n_modes_or_dim!r}")
            self._dim = int(n_modes_or_dim)
            made = getattr(_ridge, "NufftType3" + number)
            eps = _tolerance(eps, self._dim, single, allow_eps_too_small, parts=1.51)
            with _refusals():
                self._plan = made(device_name(device), self._dim, eps, 1 if self.isign >= 0 else -1, n_trans, nthreads)
            return
        self._n_modes = _integers((n_modes_or_dim,) if np.ndim(n_modes_or_dim) == 0 else n_modes_or_dim, "n_modes")
        self._dim = len(self._n_modes)
        eps = _tolerance(eps, self._dim, single, allow_eps_too_small)
        problem = _problem(nufft_type, self._n_modes, eps, self.isign, n_trans, modeord, upsampfac, nthreads, points, real, fold)
        with _refusals():
            self._plan = getattr(_ridge, "NufftPlan" + number)(device_name(device), problem, measured)

    @property
    def type(self):
        return self._type

    @property
    def dtype(self):
        """Type of strengths, modes and values: complex64 or complex128."""
        return self._dtype

    @property
    def dim(self):
        """Number of axes."""
        return self._dim

    @property
    def n_modes(self):
        """Modes per axis; None for type 3."""
        return self._n_modes

    @property
    def n_trans(self):
        return self._n_trans

    @property
    def device(self):
        return self._plan.device()

    def setpts(self, x=None, y=None, z=None, s=None, t=None, u=None):
        """Sorts the points for all later runs: one array per axis; type 3 also takes the frequencies s, t, u."""
        points = _coordinates((x, y, z), self._real, "x, y and z")
        with _refusals():
            if self.type == 3:
                self._plan.set_points(points, _coordinates((s, t, u), self._real, "s, t and u"))
            else:
                self._plan.set_points(points)
        self._has_points = True

    def execute(self, data, out=None):
        """Transforms strengths (types 1 and 3) or modes (type 2); with n_trans > 1, sets of them along the first axis."""
        return self._run(data, out, False)

    def execute_adjoint(self, data, out=None):
        """The adjoint (conjugate transpose) of execute()."""
        return self._run(data, out, True)

    def _shapes(self):
        """Shapes of the input and the output of execute(), of one set."""
        if not self._has_points:
            raise NufftError("the plan has no points: call setpts() first")
        at_points = (self._plan.points(),)
        if self.type == 3:
            return at_points, (self._plan.frequencies(),)
        return (at_points, self.n_modes) if self.type == 1 else (self.n_modes, at_points)

    def _given(self, data, shape, what, real=False):
        if real and np.iscomplexobj(data):
            raise _WrongType(f"{what} must be real in a plan with real=True, got {np.asarray(data).dtype}")
        data = np.ascontiguousarray(data, self._real if real else self.dtype)
        wanted = (self.n_trans,) + shape
        if data.shape != wanted and not (self.n_trans == 1 and data.shape == shape):
            raise NufftError(f"{what} must have the shape {shape if self.n_trans == 1 else wanted}, got {data.shape}")
        return data

    def _run(self, data, out, adjoint):
        shape, made = self._shapes()[::-1] if adjoint else self._shapes()
        to_modes = (self.type == 1) != adjoint
        data = self._given(data, shape, "the input", self.real and to_modes)
        sets = () if data.ndim == len(shape) else (self.n_trans,)
        dtype = self._real if self.real and not to_modes else self.dtype
        if out is None:
            out = np.empty(sets + made, dtype)
        else:
            _check_output(out, dtype)
            if out.shape != sets + made and not (self.n_trans == 1 and out.shape in (made, (1,) + made)):
                raise NufftError(f"the output must have the shape {sets + made}, got {out.shape}")
        with _refusals():
            (self._plan.run_real if self.real else self._plan.run)(data, out, adjoint)
        return out

    def slopes(self, modes):
        """Values of the modes at the points, and their derivatives by each coordinate (axes first).

        Types 1 and 2; the sign is that of execute() for type 2, that of execute_adjoint() for type 1.
        """
        if self.type == 3:
            raise NufftError("slopes() needs a plan of type 1 or 2, got type 3")
        self._shapes()  # refuses plans without points
        modes = self._given(modes, self.n_modes, "the modes")
        sets = () if modes.ndim == len(self.n_modes) else (self.n_trans,)
        values = np.empty(sets + (self._plan.points(),), self.dtype)
        slopes = np.empty((len(self.n_modes),) + values.shape, self.dtype)
        with _refusals():
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
        self.n_modes = _integers((n_modes,) if np.ndim(n_modes) == 0 else n_modes, "n_modes")
        points = _coordinates(points, real, "points")
        problem = _problem(2, self.n_modes, eps, isign, 1, modeord, 0.0, nthreads, 0)
        made = _ridge.NufftNormalFloat if real == np.float32 else _ridge.NufftNormalDouble
        weights = [] if weights is None else _coordinates([weights], real, "weights")
        with _refusals():
            self._normal = made(device_name(device), problem, points, weights)

    def __call__(self, modes, out=None):
        modes = np.ascontiguousarray(modes, self.dtype)
        out = np.empty(self.n_modes, self.dtype) if out is None else _output(out)
        if modes.shape != self.n_modes or out.shape != self.n_modes:
            raise NufftError(f"modes and out must have the shape {self.n_modes}, got {modes.shape} and {out.shape}")
        with _refusals():
            self._normal.run(modes, out)
        return out


def _output(out):
    if not isinstance(out, np.ndarray):
        raise _WrongType(f"out must be an array, not {type(out).__name__}")
    return out


def _check_output(out, dtype):
    """Raises an error that is a TypeError, as FINUFFT's, and a ValueError, unless `out` can be written as it is."""
    if _output(out).dtype != dtype:
        raise _WrongType(f"out must hold {np.dtype(dtype)}, got {out.dtype}")
    if not out.flags.c_contiguous:
        raise _WrongType("out must be contiguous, the last axis fastest: pass an array of that order")
    if not out.flags.writeable:
        raise _WrongType("out must be a writable array: it is read-only")


def _dtype_of(data):
    return np.complex64 if np.asarray(data).dtype in (np.complex64, np.float32) else np.complex128


# Libraries whose arrays are transformed where they are, on CUDA.
_BACKENDS = {"cupy": _cuda.Cupy}


def _of_backend(kind, points, data, n_modes, targets, out, eps, isign, modeord=0, upsampfac=0.0, nthreads=0, allow_eps_too_small=0,
                **options):
    """The transform of arrays of one of _BACKENDS, as an array of the same library."""
    del nthreads  # of the host
    _check_options(options)
    if out is not None:
        raise NufftError(f"out must be a NumPy array, the data are of {library_of(data)}: leave it out")
    backend, axes = _BACKENDS[library_of(data)](), len(points)
    for x in (*points, *(targets or ())):
        if library_of(x) != library_of(data) or x.ndim != 1 or backend.dtype(x).startswith("c"):
            raise NufftError(f"points must be real arrays of one axis, of the data's library {library_of(data)}")
    single = backend.dtype(data) in ("float32", "complex64")
    data = backend.converted(data, "complex64" if single else "complex128")
    points, targets = ([backend.converted(x, "float32" if single else "float64") for x in some] for some in (points, targets or ()))
    held = axes if kind == 2 else 1
    if data.ndim not in (held, held + 1):
        raise NufftError(f"the data must have {held} axes, or {held + 1} for several sets, got {data.ndim}")
    sets, shape = data.shape[:data.ndim - held], data.shape[data.ndim - held:]
    if any(x.shape != points[0].shape for x in points) or any(x.shape != targets[0].shape for x in targets):
        raise NufftError("the points need one length on all axes")
    if kind != 2 and shape != points[0].shape:
        raise NufftError(f"the data need one strength per point, {points[0].shape[0]}, got {shape[0]}")
    if kind == 1:
        if n_modes is None:
            raise NufftError("type 1 needs n_modes or out")
        n_modes = _integers((n_modes,) * axes if np.ndim(n_modes) == 0 else n_modes, "n_modes")
        if len(n_modes) != axes:
            raise NufftError(f"n_modes needs one number per axis, {axes}, got {len(n_modes)}")
    eps = _tolerance(eps, axes, single, allow_eps_too_small, parts=1.51 if kind == 3 else 1.0)
    data = backend.packed(data, list(range(data.ndim))).reshape(sets[0] if sets else 1, *shape)
    with _refusals():
        made = _OnCuda(backend, kind, shape if kind == 2 else n_modes or (), data.shape[0], eps, 1 if isign >= 0 else -1, modeord,
                       _upsampling(upsampfac), points, targets or None)
        out = made.execute(data)
    return out.reshape(*sets, *out.shape[1:])


def _to_modes(points, c, n_modes, out, eps, isign, options):
    if library_of(c) in _BACKENDS:
        return _of_backend(1, points, c, n_modes, None, out, eps, isign, **options)
    c = np.asarray(c)
    if n_modes is None:
        if out is None:
            raise NufftError("type 1 needs n_modes or out")
        n_modes = _output(out).shape[-len(points):]
    n_modes = _integers((n_modes,) * len(points) if np.ndim(n_modes) == 0 else n_modes, "n_modes")
    if len(n_modes) != len(points):
        raise NufftError(f"n_modes needs one number per axis, {len(points)}, got {len(n_modes)}")
    options = {"real": c.dtype in (np.float32, np.float64), **options}
    plan = Plan(1, n_modes, 1 if c.ndim < 2 else c.shape[0], eps, isign, _dtype_of(c), points=np.size(points[0]), **options)
    plan.setpts(*points)
    return plan.execute(c, out)


def _to_points(points, f, out, eps, isign, options):
    if library_of(f) in _BACKENDS:
        return _of_backend(2, points, f, None, None, out, eps, isign, **options)
    f = np.asarray(f)
    axes = len(points)
    if f.ndim not in (axes, axes + 1):
        raise NufftError(f"the modes must have {axes} axes, or {axes + 1} for several sets, got {f.ndim}")
    sets = 1 if f.ndim == axes else f.shape[0]
    plan = Plan(2, f.shape[-axes:], sets, eps, isign, _dtype_of(f), points=np.size(points[0]), **options)
    plan.setpts(*points)
    return plan.execute(f, out)


def _to_frequencies(points, c, frequencies, out, eps, isign, options):
    if library_of(c) in _BACKENDS:
        return _of_backend(3, points, c, None, frequencies, out, eps, isign, **options)
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
