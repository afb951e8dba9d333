"""Discrete Fourier, cosine and sine transforms with the names, arguments and errors of scipy.fft.

The module is a SciPy back end:

    import scipy.fft, ridge.fft
    ridge.fft.register()                      # or: with scipy.fft.set_backend(ridge.fft): ...

Arrays of any strides are used without a copy. The result is an array of the input's library (PyTorch, CuPy, JAX, dask, xarray,
subclasses of NumPy's) on its device; a ridge.Array on a device is transformed there. On devices, axes other than the last ones,
and lengths other than the array's, need a copy. NumPy arrays are transformed on another device with `device="cuda:0"`: they are
uploaded, transformed and downloaded, in panels if they exceed the device's memory.
float16 becomes complex64 (plan_float16 keeps it), float32 and float64 keep their precision, integers become double.

>>> import numpy as np
>>> np.allclose(ifft(fft([1.0, 2.0, 4.0])), [1, 2, 4])
True
>>> np.round(dct([1.0, 2.0, 4.0], norm="ortho"), 3)
array([ 4.041, -2.121,  0.408])
"""
import functools
import operator

import numpy as np

from . import _foreign, _ridge
from ._fft_arguments import (_COMPLEX, _FORWARD, _INVERSE, _REAL, _REAL_FORWARD, _REAL_INVERSE, _asarray, _cut, _no_plan, _one,
                             _product, _scale, _shape_and_axes, _threads, get_workers, set_workers)
from . import _fft_cosine
from ._fft_device import Float16Plan, _elsewhere, _on_device, plan_float16
from ._fft_through import _is_elsewhere, _same_device, _through
from ._fft_plan import Convolution, Plan, convolution, plan
from ._fft_boxes import BoxFilter, Boxes, Columns, RealBoxes, sphere_columns
from ._fft_zoom import czt, zoom

__all__ = [
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn",
    "hfft", "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn", "dct", "idct", "dctn", "idctn", "dst", "idst", "dstn", "idstn",
    "fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "plan", "Plan", "plan_float16", "Float16Plan",
    "convolution", "Convolution",
    "czt", "zoom", "BoxFilter", "Boxes", "Columns", "RealBoxes", "sphere_columns", "register", "set_workers", "get_workers",
]


_MOST_KEPT = 1 << 16  # points of padded transforms whose plans are kept
# Transforms with a short path in C++.
_QUICK = {name: code for code, name in enumerate(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "dct", "idct", "dst", "idst"))}


def _any_array(function):
    """Makes a transform of NumPy arrays one of every library's arrays. Plain NumPy arrays take the short path if there is one."""
    name, ndarray, foreign = function.__name__, np.ndarray, _foreign.transformed
    code = _QUICK.get(name)

    def call(x, *args, **kwargs):
        if type(x) is ndarray:
            return function(x, *args, **kwargs)
        out = foreign(name, function, x, args, kwargs)
        return function(x, *args, **kwargs) if out is NotImplemented else out

    def quick_call(x, *args, **kwargs):
        if type(x) is ndarray:
            out = _ridge.quick(code, x, args, kwargs)
            return function(x, *args, **kwargs) if out is None else out
        out = foreign(name, function, x, args, kwargs)
        return function(x, *args, **kwargs) if out is NotImplemented else out
    return functools.update_wrapper(call if code is None else quick_call, function)


dct, idct, dctn, idctn = map(_any_array, (_fft_cosine.dct, _fft_cosine.idct, _fft_cosine.dctn, _fft_cosine.idctn))
dst, idst, dstn, idstn = map(_any_array, (_fft_cosine.dst, _fft_cosine.idst, _fft_cosine.dstn, _fft_cosine.idstn))


def _target(out, shape, dtype, x):
    """`out` if a transform of x can write it directly, else a new array. Strides may change the order of sums, so that an `out` of
    other strides gets a copy: the values do not depend on `out`."""
    if (type(out) is np.ndarray and out.dtype == dtype and out.shape == tuple(shape) and out.flags.carray
            and not np.may_share_memory(out, x)):
        return out
    return np.empty(shape, dtype)


def _delivered(result, out):
    """The result, copied into `out` if that was given and not yet written."""
    if out is None or out is result:
        return result
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be of ArrayType numpy.ndarray, got {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError(f"the output array has wrong shape: needs {result.shape}, got {out.shape}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast the result to the type of out: needs {result.dtype}, got {out.dtype}")
    if not out.flags.writeable:
        raise ValueError("the output array is read-only")
    out[...] = result
    return out


def _complex(x, owned, lengths, axes, norm, overwrite_x, workers, inverse, out):
    """`owned`: x is a copy made here. The result overwrites such a copy; it overwrites the caller's array only if overwrite_x, or
    if that array is `out`."""
    scale, kind = _scale(norm, _product(lengths), inverse), _INVERSE if inverse else _FORWARD
    cut = _cut(x, lengths, axes)
    if any(cut.shape[a] < n for n, a in zip(lengths, axes)):
        return _padded(cut, lengths, axes, kind, scale, _threads(workers))
    in_place = cut is x and ((owned and out is None) or ((overwrite_x or out is x) and x.flags.writeable and x.flags.forc))
    made = x if in_place else _target(out, cut.shape, cut.dtype, cut)
    _ridge.transform(cut, made, kind, axes, (), scale, _threads(workers))
    return made


@functools.lru_cache(maxsize=32)
def _box_plan(*problem):
    return _ridge.BoxPlan(*problem)


def _padded(x, lengths, axes, kind, scale, threads):
    """The transform of x, which is shorter than the lengths along some axes, and zero there. The zeros are not stored."""
    single, real = x.dtype.char in "fF", kind in (_REAL_FORWARD, _REAL_INVERSE)
    if not real:
        axes, lengths = zip(*sorted(zip(axes, lengths)))
    first, end = axes[0], axes[0] + len(axes)
    if x.size and (len(axes) > 3 or list(axes) != list(range(first, end))):
        steps = [(lengths[:-1], axes[:-1], _INVERSE if kind in (_INVERSE, _REAL_INVERSE) else _FORWARD),
                 (lengths[-1:], axes[-1:], kind)]
        for i, step in enumerate(steps if kind == _REAL_INVERSE else reversed(steps)):
            x = _padded(x, *step, scale if i else 1.0, threads)
        return x
    shape = list(x.shape)
    for n, a in zip(lengths, axes):
        shape[a] = n
    if kind == _REAL_FORWARD:
        shape[axes[-1]] = lengths[-1] // 2 + 1
    dtype = ("f4" if single else "f8") if kind == _REAL_INVERSE else ("c8" if single else "c16")
    if not x.size:
        return np.zeros(shape, dtype)
    out = np.empty(shape, dtype)
    make = _box_plan if out.size <= _MOST_KEPT else _ridge.BoxPlan  # long plans hold large scratch memory
    make(tuple(lengths), x.shape[first:end], _product(x.shape[:first]), _product(x.shape[end:]), real,
         kind in (_INVERSE, _REAL_INVERSE), single, scale, threads).run(np.ascontiguousarray(x), out)
    return out


def _real_forward(x, lengths, axes, norm, workers, inverse, out):
    if x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    scale = _scale(norm, _product(lengths), inverse)
    x = _cut(x, lengths, axes)
    if any(x.shape[a] < n for n, a in zip(lengths, axes)):
        return _padded(x, lengths, axes, _REAL_FORWARD, scale, _threads(workers))
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1] // 2 + 1
    made = _target(out, shape, _COMPLEX.get(x.dtype, np.dtype(np.complex128)), x)
    _ridge.transform(x, made, _REAL_FORWARD, axes, (), scale, _threads(workers))
    return made


def _real_inverse(x, lengths, axes, norm, workers, inverse, out):
    scale, held = _scale(norm, _product(lengths), inverse), [*lengths[:-1], lengths[-1] // 2 + 1]
    x = _cut(x, held, axes)
    if any(x.shape[a] < n for n, a in zip(held, axes)):
        return _padded(x, lengths, axes, _REAL_INVERSE, scale, _threads(workers))
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1]
    made = _target(out, shape, _REAL.get(x.dtype, np.dtype(np.float64)), x)
    _ridge.transform(x, made, _REAL_INVERSE, axes, (), scale, _threads(workers))
    return made


def _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, where, real=False, inverse=False, hermitian=False):
    """Every transform. where: _one or _shape_and_axes. inverse: the result are samples, as those of irfft and hfft."""
    _no_plan(plan)
    if (there := _elsewhere(x)) is not None:
        _same_device(there, device)
        if out is not None:
            raise TypeError("out needs a NumPy array as input: transforms of other arrays return new ones")
        return _on_device(there, s, axes, norm, real, inverse, hermitian)
    given = x
    x, owned = _asarray(x, inverse or not real)
    lengths, axes = where(x, s, axes, real and inverse)
    if not axes:
        if real:
            raise ValueError("at least 1 axis must be transformed")
        return given if out is None else _delivered(x, out)
    if _is_elsewhere(device):
        if real and not inverse and x.dtype.kind == "c":
            raise TypeError("x must be a real sequence")
        made = _through(np.conj(x) if hermitian and inverse else x, lengths, axes, _scale(norm, _product(lengths), inverse != hermitian),
                        real, inverse, device)
        return _delivered(np.conj(made, out=made) if hermitian and not inverse else made, out)
    if not real:
        return _delivered(_complex(x, owned, lengths, axes, norm, overwrite_x, workers, inverse, out), out)
    if inverse:
        return _delivered(_real_inverse(np.conj(x) if hermitian else x, lengths, axes, norm, workers, not hermitian, out), out)
    made = _real_forward(x, lengths, axes, norm, workers, hermitian, out)
    return _delivered(np.conj(made, out=made) if hermitian else made, out)


@_any_array
def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """One-dimensional transform along an axis, as scipy.fft.fft; out: the array to write, as in NumPy 2. device: where a NumPy
    array is transformed, "host" by default.

    >>> fft([1, 0, 0, 0]).real
    array([1., 1., 1., 1.])
    """
    return _transform(x, n, axis, norm, overwrite_x, workers, plan, out, device, _one)


@_any_array
def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of fft."""
    return _transform(x, n, axis, norm, overwrite_x, workers, plan, out, device, _one, inverse=True)


@_any_array
def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """Transform over two axes."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes)


@_any_array
def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of fft2."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, inverse=True)


@_any_array
def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """Transform over any number of axes."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes)


@_any_array
def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of fftn."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, inverse=True)


@_any_array
def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """Transform of real samples: the first n//2+1 values of their spectrum.

    >>> rfft([1.0, 0.0, 0.0, 0.0]).real
    array([1., 1., 1.])
    """
    return _transform(x, n, axis, norm, overwrite_x, workers, plan, out, device, _one, True)


@_any_array
def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of rfft; n is the number of samples, by default 2*(m-1)."""
    return _transform(x, n, axis, norm, overwrite_x, workers, plan, out, device, _one, True, True)


@_any_array
def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """Transform of real samples over any number of axes; the last one has n//2+1 values."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True)


@_any_array
def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of rfftn."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True, True)


@_any_array
def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """Transform of real samples over two axes."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True)


@_any_array
def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of rfft2."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True, True)


@_any_array
def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The real spectrum of samples with Hermitian symmetry."""
    return _transform(x, n, axis, norm, overwrite_x, workers, plan, out, device, _one, True, True, True)


@_any_array
def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of hfft."""
    return _transform(x, n, axis, norm, overwrite_x, workers, plan, out, device, _one, True, hermitian=True)


@_any_array
def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """hfft over any number of axes."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True, True, True)


@_any_array
def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of hfftn."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True, hermitian=True)


@_any_array
def hfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """hfft over two axes."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True, True, True)


@_any_array
def ihfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None, out=None, device=None):
    """The inverse of hfft2."""
    return _transform(x, s, axes, norm, overwrite_x, workers, plan, out, device, _shape_and_axes, True, hermitian=True)


# --- helpers ----------------------------------------------------------------------------------------------------------

def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """Frequencies of the values of fft, as numpy.fft.fftfreq; dtype and device as in the array API standard.

    >>> fftfreq(4, dtype=np.float32)
    array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _foreign.frequencies("fftfreq", np.fft.fftfreq(n, d), None, dtype, device)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """Frequencies of the values of rfft, as numpy.fft.rfftfreq; dtype and device as in the array API standard."""
    return _foreign.frequencies("rfftfreq", np.fft.rfftfreq(n, d), None, dtype, device)


fftshift, ifftshift = np.fft.fftshift, np.fft.ifftshift


def next_fast_len(target, real=False):
    """The smallest length >= `target` that is a product of 2, 3, 5, 7, 11 (2, 3, 5 for real).

    >>> next_fast_len(1009)
    1024
    """
    target = operator.index(target)
    if target < 0:
        raise ValueError("Target length must be positive")
    products = [1]  # products of the odd primes, below twice the target
    for p in (3, 5) if real else (3, 5, 7, 11):
        for n in products:
            if n * p < 2 * target:
                products.append(n * p)
    # Each product times the smallest power of 2 that reaches the target.
    return min(n << max(0, (-(-target // n) - 1).bit_length()) for n in products) if target else 0


# --- SciPy's protocol -------------------------------------------------------------------------------------------------

__ua_domain__ = "numpy.scipy.fft"
_functions = {name: globals()[name] for name in __all__[:26]}


def __ua_function__(method, args, kwargs):
    """Handles a call through scipy.fft with the thread count of scipy.fft.set_workers. SciPy itself computes what this module
    does not support: long double, `plan=`, Hankel transforms."""
    import scipy.fft
    function = _functions.get(method.__name__)
    if function is not None:
        before = get_workers()
        _ridge.set_default_workers(scipy.fft.get_workers())
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            pass
        finally:
            _ridge.set_default_workers(before)
    with scipy.fft.set_backend("scipy", only=True):
        return method(*args, **kwargs)


def register():
    """Makes this module the first back end of scipy.fft in every thread; SciPy computes what this module does not support."""
    import sys

    import scipy.fft
    scipy.fft.register_backend(sys.modules[__name__])
