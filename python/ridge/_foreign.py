"""Arrays of other libraries: a transform returns the kind of array it was given, on the device of that array.

No framework is imported here that the caller has not imported: an array of it could not exist otherwise.
"""
import sys

import numpy as np

from ._library import library_of
from .array import Array

_AXES = {"axis": "dim", "axes": "dim"}  # torch's names
_ONE = ("n", "axis", "norm", "overwrite_x", "workers")           # parameters after x of transforms along one axis
_MANY = ("s", "axes", "norm", "overwrite_x", "workers")          # of transforms along several axes


def named(name, args, kwargs):
    """The arguments of a call by name, without defaults."""
    from ._transforms import COSINES, FOURIER
    cosine = name in COSINES
    many = (COSINES if cosine else FOURIER)[name][2]
    names = (("type",) if cosine else ()) + (_MANY if many else _ONE) + (("orthogonalize",) if cosine else ())
    if len(args) > len(names):
        raise TypeError(f"{name}() takes {len(names) + 1} positional arguments but {len(args) + 1} were given")
    given = dict(zip(names, args))
    for key, value in kwargs.items():
        if key == "device":
            continue
        if key in given:
            raise TypeError(f"{name}() got multiple values for argument '{key}'")
        given[key] = value
    if given.pop("plan", None) is not None:
        raise NotImplementedError("passing a precomputed plan is not supported: use ridge.fft.plan")
    return given


def _subclass(function, x, args, kwargs):
    """A NumPy subclass: the result has its type. As in SciPy, masked arrays and matrices become plain arrays."""
    out = function(x.view(np.ndarray), *args, **kwargs)
    masked = sys.modules.get("numpy.ma")
    plain = (np.memmap, np.matrix, masked.MaskedArray) if masked is not None else (np.memmap, np.matrix)
    return out if kwargs.get("out") is not None or isinstance(x, plain) else out.view(type(x))


def _arguments(name, args, kwargs):
    """The arguments that every library has."""
    given = named(name, args, kwargs)
    for key in ("overwrite_x", "workers"):
        given.pop(key, None)
    return given


def _torch(name, x, args, kwargs):
    from . import torch
    return getattr(torch, name)(x, **{_AXES.get(key, key): value for key, value in _arguments(name, args, kwargs).items()})


def _jax(name, x, args, kwargs):
    from . import jax
    return getattr(jax, name)(x, **_arguments(name, args, kwargs))


def _dask(name, x, args, kwargs):
    from . import dask
    return getattr(dask, name)(x, **named(name, args, kwargs))


def _xarray(function, x, args, kwargs, name):
    """A DataArray with the same dimensions; coordinates along transformed axes are dropped (ridge.xarray keeps frequencies)."""
    if not hasattr(x, "dims") or not hasattr(x, "variable"):
        return NotImplemented
    from ._transforms import default_axes
    out = function(x.data, *args, **kwargs)
    given = named(name, args, kwargs)
    axes = given.get("axes", given.get("axis", default_axes(name) if name.endswith(("2", "n")) else -1))
    axes = range(x.ndim) if axes is None else np.atleast_1d(axes)
    changed = {x.dims[axis] for axis in axes}
    coordinates = {key: value for key, value in x.coords.items() if not changed.intersection(value.dims)}
    return type(x)(out, dims=x.dims, coords=coordinates, name=x.name, attrs=x.attrs)


def _cupy(name, x, args, kwargs):
    from . import _cuda
    return _cuda.transform(_cuda.Cupy(), name, x, **_arguments(name, args, kwargs))


def transformed(name, function, x, args, kwargs):
    """The transform of an object that is no plain NumPy array, or NotImplemented if NumPy's conversion is wanted."""
    if isinstance(x, np.ndarray):
        return _subclass(function, x, args, kwargs)
    if isinstance(x, (Array, list, tuple, int, float, complex, np.generic)):
        return NotImplemented
    library = library_of(x)
    if kwargs.get("device") is not None and library in ("torch", "jax", "cupy", "dask"):
        raise TypeError(f"{name}: device= is for arrays in host memory, got an array of {library}, which is transformed where it is")
    if library == "torch":
        return _torch(name, x, args, kwargs)
    if library == "jax" and "jax" in sys.modules:
        return _jax(name, x, args, kwargs)
    if library == "cupy":
        return _cupy(name, x, args, kwargs)
    if library == "dask" and hasattr(x, "dask"):
        return _dask(name, x, args, kwargs)
    if library == "xarray":
        return _xarray(transforming(name, function), x, args, kwargs, name)
    if hasattr(x, "__array_namespace__") and hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == 1:
        xp = x.__array_namespace__()
        return xp.from_dlpack(function(np.from_dlpack(x), *args, **kwargs))
    return NotImplemented


def transforming(name, function):
    """The function for arrays of any library."""
    def call(x, *args, **kwargs):
        if type(x) is not np.ndarray:
            out = transformed(name, function, x, args, kwargs)
            if out is not NotImplemented:
                return out
        return function(x, *args, **kwargs)
    return call


def frequencies(name, values, xp, dtype, device):
    """Frequencies as an array of the namespace xp (NumPy by default), of a real dtype, on a device."""
    if xp is None:
        if device not in (None, "cpu", "host"):
            raise ValueError(f'{name}: NumPy arrays are on the device "cpu", got {device!r}; '
                             "ridge.array_api(torch) gives frequencies of another library")
        if dtype is None:
            return values
        dtype = np.dtype(dtype)
        if dtype.kind != "f":
            raise TypeError(f"{name}: dtype must be a real floating type, got {dtype}")
        return values.astype(dtype)
    if dtype is None:
        dtype = xp.float64 if not hasattr(xp, "get_default_dtype") else xp.get_default_dtype()
    return xp.asarray(values, dtype=dtype, device=device)
