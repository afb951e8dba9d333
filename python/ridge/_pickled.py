"""Objects that are pickled as the arguments that made them."""
import numpy as np


def _again(made, args, kwargs):
    return made(*args, **kwargs)


class Pickled:
    """Base of plans: pickled as their arguments, and planned again where they are loaded. `_made`: what __reduce__ returns."""

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        held = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args)  # the caller may change the arrays
        made._made = _again, (cls, held, kwargs)
        return made

    def __reduce__(self):
        return self._made
