"""Plans of transforms on the host, as objects."""
import numpy as np

from . import _ridge
from ._fft_arguments import (_COMPLEX, _FORWARD, _INVERSE, _REAL, _REAL_FORWARD, _REAL_INVERSE, _product, _scale,
                             _shape_and_axes, _threads)
from ._picture import Shown


class Plan(Shown):
    """A planned transform for arrays of one type, shape and layout, to run many times.

    >>> import numpy as np
    >>> p = plan(np.zeros((4, 64), np.complex64))
    >>> p(np.ones((4, 64), np.complex64))[0, 0]
    (64+0j)
    """

    def __init__(self, x, out, kind, axes, scale, workers, measured):
        self._plan = _ridge.Plan(x, out, kind, axes, (), scale, workers, measured)
        self._like = (out.shape, out.dtype)

    def __call__(self, x, out=None):
        """The transform of x, into out or into a new array."""
        if out is None:
            out = np.empty(*self._like)
        self._plan.run(np.asarray(x), out)
        return out


def plan(x, axes=None, kind="complex", inverse=False, norm=None, workers=None, measured=True):
    """A plan for arrays like x over some axes (default: the last one). kind is "complex" or "real"."""
    x = np.asarray(x)
    axes = [x.ndim - 1] if axes is None else _shape_and_axes(x, None, axes)[1]
    lengths = [x.shape[a] for a in axes]
    if kind == "complex":
        if x.dtype not in (np.complex64, np.complex128):
            raise TypeError(f"a complex plan needs complex64 or complex128, got {x.dtype}")
        out, code = np.empty(x.shape, x.dtype), _INVERSE if inverse else _FORWARD
    elif kind == "real" and not inverse:
        if x.dtype not in (np.float32, np.float64):
            raise TypeError(f"a real plan needs float32 or float64, got {x.dtype}")
        shape = list(x.shape)
        shape[axes[-1]] = lengths[-1] // 2 + 1
        out, code = np.empty(shape, _COMPLEX.get(x.dtype, np.complex128)), _REAL_FORWARD
    elif kind == "real":
        if x.dtype not in (np.complex64, np.complex128):
            raise TypeError(f"an inverse real plan needs complex64 or complex128, got {x.dtype}")
        lengths[-1] = 2 * (lengths[-1] - 1)
        shape = list(x.shape)
        shape[axes[-1]] = lengths[-1]
        out, code = np.empty(shape, _REAL.get(x.dtype, np.float64)), _REAL_INVERSE
    else:
        raise ValueError(f'unknown kind {kind!r}: use "complex" or "real"')
    return Plan(x, out, code, axes, _scale(norm, _product(lengths), inverse), _threads(workers), measured)
