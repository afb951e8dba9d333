"""Ridgeline: transforms, filter banks, stencils and image operators close to the limit of the machine they run on.

>>> import numpy as np, ridge
>>> x = np.exp(2j * np.pi * 3 * np.arange(8) / 8)
>>> np.round(ridge.fft.fft(x).real).astype(int)
array([0, 0, 0, 8, 0, 0, 0, 0])

`ridge.fft` is loaded with the package, the other modules when they are first used. `ridge.torch`, `ridge.jax`, `ridge.dask` and
`ridge.xarray` need the library of that name.
"""
from importlib.machinery import PathFinder

__version__ = "0.1.0"
if PathFinder.find_spec("ridge_kernels_avx512") is not None:
    from . import _kernels
    if (_module := _kernels.load("ridge_kernels_avx512", __version__)) is not None:
        _ridge = _module

from . import fft  # noqa: E402
from ._ridge import forget_wisdom, wisdom  # noqa: E402
from .array import Array, array, asarray, empty, from_dlpack  # noqa: E402

__all__ = ["fft", "filterbank", "image", "nufft", "planner", "sar", "search", "stencil", "Array", "array", "asarray", "empty",
           "from_dlpack",
           "devices", "machine", "Machine", "device_memory", "set_device_memory", "wisdom", "forget_wisdom", "array_api"]

_MODULES = ("filterbank", "image", "nufft", "planner", "sar", "search", "stencil", "torch", "jax", "dask", "xarray")
_NAMES = {"devices": "_machine", "machine": "_machine", "Machine": "_machine",
          "device_memory": "_machine", "set_device_memory": "_machine", "array_api": "_array_api"}


def __getattr__(name):
    import importlib
    if name in _MODULES:
        return importlib.import_module(f"ridge.{name}")
    if name in _NAMES:
        value = getattr(importlib.import_module(f"ridge.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ridge' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, *_MODULES})
