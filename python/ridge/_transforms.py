"""The transforms of ridge.fft as a table, and their definition for libraries with gradients (ridge.torch, ridge.jax).

Each of these libraries has one linear operator. What surrounds it is here, once: types, lengths, norms, Hermitian symmetry and the
ends of cosine transforms.
"""
import sys

from ._fft_arguments import _product, _scale, _shape_and_axes
from ._fft_cosine import _DCT, _DST, _problem

FORWARD, INVERSE, HALF, SAMPLES, COSINE = range(5)  # kinds of the linear operator

# name: kind of the operator, True for Hermitian samples and real spectra, True for several axes
FOURIER = {name + suffix: (kind, hermitian, bool(suffix))
           for suffix in ("", "2", "n")
           for name, kind, hermitian in (("fft", FORWARD, False), ("ifft", INVERSE, False), ("rfft", HALF, False),
                                         ("irfft", SAMPLES, False), ("hfft", SAMPLES, True), ("ihfft", HALF, True))}
# name: types, True for inverse transforms, True for several axes
COSINES = {inverse + name + suffix: (table, bool(inverse), bool(suffix))
           for suffix in ("", "n") for name, table in (("dct", _DCT), ("dst", _DST)) for inverse in ("", "i")}
NAMES = (*FOURIER, *COSINES)


def parts(kind, axes, real_kinds, length, scale, adjoint=False):
    """Splits an operator over any number of axes into operators over at most three: kind, axes, real kinds, length, scale."""
    first, last = axes[:-3], axes[-3:]
    split = len(first)
    ends = (kind, last, real_kinds[split:], length, scale)
    if not first:
        return [ends]
    rest = parts({HALF: FORWARD, SAMPLES: INVERSE}.get(kind, kind), first, real_kinds[:split], 0, 1.0)
    # The halved axis is transformed first from samples, and last to samples.
    return [ends, *rest] if (kind == HALF) != adjoint else [*rest, ends]


def default_axes(name):
    """Default axes of a transform of several axes."""
    return (-2, -1) if name.endswith("2") else None


class Operators:
    """What a library provides: the operations of ridge.torch and ridge.jax differ in these functions only."""

    def floating(self, x, complex_wanted):
        """x in single or double precision, complex if wanted."""
        raise NotImplementedError

    def is_complex(self, x):
        raise NotImplementedError

    def conj(self, x):
        raise NotImplementedError

    def fitted(self, x, n, axis):
        """x cut or zero-padded to n values along an axis."""
        raise NotImplementedError

    def linear(self, x, axes, kind, real_kinds, length, scale):
        """The operator over the axes."""
        raise NotImplementedError

    def scaled_ends(self, x, axis, first, last):
        """x with its first and last value along the axis multiplied by two numbers."""
        raise NotImplementedError

    def of_parts(self, function, x):
        """A function of real arrays applied to the real and the imaginary part of x."""
        raise NotImplementedError

    def short(self, name, x, s, axes, norm, *cosine):
        """The transform by a faster path that skips the steps below, or None. cosine: type and orthogonalize of a cosine or sine transform."""
        return None

    def _fit(self, x, lengths, axes):
        for n, axis in zip(lengths, axes):
            if x.shape[axis] != n:
                x = self.fitted(x, n, axis)
        return x

    def _fourier(self, x, s, axes, norm, kind, hermitian):
        """hfft is the operator SAMPLES of the conjugate, scaled as a forward transform."""
        x = self.floating(x, kind != HALF)
        if kind == HALF and self.is_complex(x):
            raise TypeError("x must be a real sequence")
        lengths, axes = _shape_and_axes(x, s, axes, kind == SAMPLES)
        if not axes:
            if kind in (HALF, SAMPLES):
                raise ValueError("at least 1 axis must be transformed")
            return x
        x = self._fit(x, [*lengths[:-1], lengths[-1] // 2 + 1] if kind == SAMPLES else lengths, axes)
        scale = _scale(norm, _product(lengths), (kind in (INVERSE, SAMPLES)) != hermitian)
        if hermitian and kind == SAMPLES:
            x = self.conj(x)
        y = self.linear(x, axes, kind, (), lengths[-1], scale)
        return self.conj(y) if hermitian and kind == HALF else y

    def _cosine(self, x, type, s, axes, norm, orthogonalize, table, inverse):
        x = self.floating(x, False)
        if self.is_complex(x):
            return self.of_parts(lambda part: self._cosine(part, type, s, axes, norm, orthogonalize, table, inverse), x)
        lengths, axes = _shape_and_axes(x, s, axes)
        kind, scale, ends = _problem(lengths, type, norm, orthogonalize, table, inverse)
        if not axes:
            return x
        x = self._scale_all(self._fit(x, lengths, axes), axes, ends[:2])
        y = self.linear(x, axes, COSINE, (kind,) * len(axes), 0, scale)
        return self._scale_all(y, axes, ends[2:])

    def _scale_all(self, x, axes, ends):
        for axis in axes if any(factor != 1 for factor in ends) else ():
            x = self.scaled_ends(x, axis, *ends)
        return x


def _fourier_functions(name, kind, hermitian, several, operators):
    """The transform with torch's parameters and with SciPy's."""
    short, fourier, default = operators.short, operators._fourier, default_axes(name)
    if several:
        def torchs(input, s=None, dim=default, norm=None):
            out = short(name, input, s, dim, norm)
            return fourier(input, s, dim, norm, kind, hermitian) if out is None else out

        def scipys(x, s=None, axes=default, norm=None):
            return fourier(x, s, axes, norm, kind, hermitian)
    else:
        def torchs(input, n=None, dim=-1, norm=None):
            out = short(name, input, n, dim, norm)
            return fourier(input, None if n is None else [n], [dim], norm, kind, hermitian) if out is None else out

        def scipys(x, n=None, axis=-1, norm=None):
            return fourier(x, None if n is None else [n], [axis], norm, kind, hermitian)
    return torchs, scipys


def _cosine_functions(name, table, inverse, several, operators):
    short, cosine = operators.short, operators._cosine
    if several:
        def torchs(x, type=2, s=None, dim=None, norm=None, orthogonalize=None):
            out = short(name, x, s, dim, norm, type, orthogonalize)
            return cosine(x, type, s, dim, norm, orthogonalize, table, inverse) if out is None else out

        def scipys(x, type=2, s=None, axes=None, norm=None, orthogonalize=None):
            return cosine(x, type, s, axes, norm, orthogonalize, table, inverse)
    else:
        def torchs(x, type=2, n=None, dim=-1, norm=None, orthogonalize=None):
            out = short(name, x, n, dim, norm, type, orthogonalize)
            return cosine(x, type, None if n is None else [n], [dim], norm, orthogonalize, table, inverse) if out is None else out

        def scipys(x, type=2, n=None, axis=-1, norm=None, orthogonalize=None):
            return cosine(x, type, None if n is None else [n], [axis], norm, orthogonalize, table, inverse)
    return torchs, scipys


def define(namespace, operators, dim):
    """Adds every transform to a module's namespace; `dim`: with torch's names of parameters instead of SciPy's."""
    for table, functions in ((FOURIER, _fourier_functions), (COSINES, _cosine_functions)):
        for name, row in table.items():
            call = functions(sys.intern(name), *row, operators)[0 if dim else 1]
            call.__name__ = call.__qualname__ = name
            call.__module__ = namespace["__name__"]
            call.__doc__ = f"As ridge.fft.{name}, for arrays of this library and with gradients."
            namespace[name] = call
