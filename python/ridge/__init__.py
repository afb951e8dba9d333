"""Ridgeline: transforms, filter banks, stencils and image operators close to the limit of the machine they run on.

>>> import numpy as np, ridge
>>> x = np.exp(2j * np.pi * 3 * np.arange(8) / 8)
>>> np.round(ridge.fft.fft(x).real).astype(int)
array([0, 0, 0, 8, 0, 0, 0, 0])
"""
from . import fft, filterbank, image, nufft, planner, sar, stencil
from .array import Array, array, asarray, empty, from_dlpack
from .machine import Machine, devices, machine
from ._ridge import forget_wisdom, wisdom

__all__ = ["fft", "filterbank", "image", "nufft", "planner", "sar", "stencil", "Array", "array", "asarray", "empty", "from_dlpack",
           "devices", "machine", "Machine", "wisdom", "forget_wisdom"]
__version__ = "0.1.0"
