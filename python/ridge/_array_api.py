"""Namespaces of the Python array API standard with Ridgeline's transforms as their fft extension."""
import types

import numpy as np

from . import fft
from ._foreign import frequencies

_EXTENSION = ("fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft")


def _standard(function, several):
    """The function with the standard's signature: x by position, the rest by keyword."""
    if several:
        def call(x, /, *, s=None, axes=None, norm="backward"):
            return function(x, s, axes, norm)
    else:
        def call(x, /, *, n=None, axis=-1, norm="backward"):
            return function(x, n, axis, norm)
    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


def array_api(xp):
    """The namespace `xp` (numpy, torch, cupy, jax.numpy, array_api_compat's) with Ridgeline's transforms as xp.fft.

    >>> import numpy, ridge
    >>> xp = ridge.array_api(numpy)
    >>> xp.fft.fft(xp.ones(4)).real
    array([4., 0., 0., 0.])
    >>> xp.fft.rfftfreq(4, dtype=numpy.float32)
    array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    own = None if xp is np else xp

    def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
        return frequencies("fftfreq", np.fft.fftfreq(n, d), own, dtype, device)

    def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
        return frequencies("rfftfreq", np.fft.rfftfreq(n, d), own, dtype, device)

    shifts = xp.fft if hasattr(getattr(xp, "fft", None), "fftshift") else np.fft
    extension = types.SimpleNamespace(**{name: _standard(getattr(fft, name), name.endswith("n")) for name in _EXTENSION},
                                      fftfreq=fftfreq, rfftfreq=rfftfreq, fftshift=shifts.fftshift, ifftshift=shifts.ifftshift)

    class Namespace(types.ModuleType):
        """xp with another fft."""
        fft = extension

        def __getattr__(self, name):
            return getattr(xp, name)

        def __dir__(self):
            return dir(xp)
    return Namespace("ridge_" + xp.__name__.rsplit(".", 1)[-1])
