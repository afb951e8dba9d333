"""Transforms and filters of parts of arrays: boxes, columns of a spectrum of three axes, and boxes of cosine and sine transforms."""
import operator

import numpy as np

from . import _ridge
from ._fft_arguments import _scale, _threads
from ._pickled import Pickled
from .array import device_name

# Names of the kinds in the order of ridge::fft::RealKind.
_KINDS = ("halfcomplex", "halfcomplex_inverse", "hartley", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4")


def _made(name, dtype, kinds):
    """The C++ class of a precision."""
    dtype = np.dtype(dtype)
    if dtype not in kinds:
        raise TypeError(f"dtype must be {kinds[0]} or {kinds[1]}, got {dtype}")
    return dtype, getattr(_ridge, name + ("Float" if dtype == kinds[0] else "Double"))


def _made_for_samples(name, dtype):
    """Types of samples and values, and the C++ class."""
    samples = np.dtype(dtype)
    values, made = _made(name, {"float32": "complex64", "float64": "complex128"}.get(samples.name, samples), (np.complex64, np.complex128))
    return samples, values, made


def _shape(shape):
    return tuple(operator.index(n) for n in np.atleast_1d(np.asarray(shape, object)))


def _output(out, shape, dtype):
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if out.shape != shape:
        raise ValueError(f"out must have the shape {shape}, got {out.shape}")
    return out


def _input(x, shape, dtype, what):
    x = np.asarray(x)
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise TypeError(f"{what} must be real, got {x.dtype}")
    x = np.ascontiguousarray(x, dtype)
    if x.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, got {x.shape}")
    return x


def sphere_columns(shape, basis, cutoff, real=False):
    """The columns of all modes k with |k[0] basis[0] + k[1] basis[1] + k[2] basis[2]| <= cutoff: rows x, y, first, count.

    shape: three axes of the grid. basis: three vectors of the reciprocal lattice. Negative frequencies are at the end of an axis. real:
    only one of each pair k and -k, for real samples.

    >>> sphere_columns((4, 4, 4), np.eye(3), 1.0).tolist()
    [[3, 0, 0, 1], [0, 3, 0, 1], [0, 0, 3, 3], [0, 1, 0, 1], [1, 0, 0, 1]]
    """
    basis = np.asarray(basis, float)
    if basis.shape != (3, 3):
        raise ValueError(f"the basis must have the shape (3, 3), got {basis.shape}")
    rows = _ridge.sphere_columns(_shape(shape), basis.tolist(), float(cutoff), bool(real))
    return np.array(rows, np.int64).reshape(-1, 4)


class _Planned(Pickled):
    """What the transforms below have in common: they run the plan in _plan."""

    @property
    def device(self):
        return self._plan.device()

    def explain(self):
        return self._plan.explain()

    def adjoint(self):
        """A transform whose inverse() is the adjoint of forward(), and whose forward() is the adjoint of inverse()."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _plan=self._plan.adjoint(), _made=(_adjoint_of, (self,)))
        return other


def _adjoint_of(plan):
    return plan.adjoint()


class Columns(_Planned):
    """Transforms between a grid of three axes and the modes of a list of columns; other modes are zero and not stored.

    columns: rows (x, y, first, count), modes (x, y, first) to (x, y, first + count - 1) modulo the last axis, stored in this order.
    dtype: of the samples. Of real samples (float32, float64) modes k and -k are conjugates: the list holds one of them, in at most one
    of the columns (x, y) and (-x, -y). norm: as of numpy.fft. forward(samples) gives the modes, inverse(modes) the samples.

    >>> wave = Columns((8, 8, 8), sphere_columns((8, 8, 8), np.eye(3), 2.5))
    >>> modes = np.arange(wave.size) + 0j
    >>> bool(np.allclose(wave.forward(wave.inverse(modes)), modes))
    True
    """

    def __init__(self, shape, columns, dtype="complex128", *, norm=None, workers=None, device=None):
        self.dtype, self.spectrum_dtype, made = _made_for_samples("Columns", dtype)
        real = self.dtype != self.spectrum_dtype
        self.shape = _shape(shape)
        rows = np.asarray(columns)
        if rows.ndim != 2 or rows.shape[1] != 4 or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise ValueError(f"columns must be rows of four integers (x, y, first, count) of at least 0, got {rows.dtype} {rows.shape}")
        points = max(1, int(np.prod(self.shape, dtype=np.int64)))
        self.columns = rows.astype(np.int64)
        self._plan = made(device_name(device), self.shape, self.columns.tolist(), real,
                          _scale(norm, points, False), _scale(norm, points, True), _threads(workers))

    @property
    def size(self):
        """Number of modes."""
        return self._plan.size()

    @property
    def share(self):
        """Points of the lines that are transformed, as a share of those of the whole transform."""
        return self._plan.share()

    def indices(self):
        """Positions of the modes in a whole spectrum, as three arrays: spectrum[c.indices()] are the modes."""
        x, y, first, count = self.columns.T
        along = np.concatenate([np.arange(f, f + n) for f, n in zip(first, count)]) % self.shape[2]
        return np.repeat(x, count), np.repeat(y, count), along.astype(np.int64)

    def forward(self, samples, out=None):
        """Modes of samples on the grid."""
        out = _output(out, (self.size,), self.spectrum_dtype)
        self._plan.run(_input(samples, self.shape, self.dtype, "the samples"), out, False)
        return out

    def inverse(self, modes, out=None):
        """Samples on the grid of modes."""
        out = _output(out, self.shape, self.dtype)
        self._plan.run(_input(modes, (self.size,), self.spectrum_dtype, "the modes"), out, True)
        return out


def _ranges(box, shape, name):
    """Firsts and counts of a box: pairs (first, count) per axis, a number n for (0, n), or None for the whole axis."""
    if box is None:
        box = (None,) * len(shape)
    if len(box) != len(shape):
        raise ValueError(f"{name} needs one range per axis, {len(shape)}, got {len(box)}")
    pairs = [(0, n) if b is None else (0, b) if np.ndim(b) == 0 else tuple(b) for b, n in zip(box, shape)]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{name} needs ranges (first, count), got {box}")
    pairs = [(operator.index(first), operator.index(count)) for first, count in pairs]
    if any(first < 0 or count < 0 for first, count in pairs):
        raise ValueError(f"{name} needs firsts and counts of at least 0, got {box}")
    return [first for first, _ in pairs], [count for _, count in pairs]


class Boxes(_Planned):
    """Transforms of one to three axes of which forward() reads only the box `given`, the other samples being zero, and gives only the box
    `wanted`. inverse() exchanges the two.

    shape: of the samples of the whole transform. given, wanted: per axis a pair (first, count), a count, or None for the whole axis; a
    range may continue at the beginning of the axis. dtype: of the samples; real samples have half spectra, as in rfftn. batch: arrays
    that are transformed together, along an axis before the others. norm: as of numpy.fft.

    >>> low = Boxes((64, 64), given=(10, 20), wanted=[(60, 9), (60, 9)])      # frequencies -4 ... 4
    >>> low.forward(np.ones((10, 20))).shape
    (9, 9)
    """

    def __init__(self, shape, given=None, wanted=None, dtype="complex128", *, batch=None, norm=None, workers=None, device=None):
        self.dtype, self.spectrum_dtype, made = _made_for_samples("Boxes", dtype)
        real = self.dtype != self.spectrum_dtype
        self.shape = _shape(shape)
        if not self.shape or min(self.shape) < 1:
            raise ValueError(f"the shape needs axes of at least one point, got {self.shape}")
        spectrum = (*self.shape[:-1], self.shape[-1] // 2 + 1) if real else self.shape
        given, wanted = _ranges(given, self.shape, "given"), _ranges(wanted, spectrum, "wanted")
        sets = () if batch is None else (operator.index(batch),)
        self.given_shape, self.wanted_shape = (*sets, *given[1]), (*sets, *wanted[1])
        points = int(np.prod(self.shape, dtype=np.int64))
        self._plan = made(device_name(device), self.shape, [*given, *wanted], real, sets[0] if sets else 1,
                          _scale(norm, points, False), _scale(norm, points, True), _threads(workers))

    def forward(self, samples, out=None):
        """The wanted values of the transform of the given samples."""
        out = _output(out, self.wanted_shape, self.spectrum_dtype)
        self._plan.run(_input(samples, self.given_shape, self.dtype, "the samples"), out, False)
        return out

    def inverse(self, values, out=None):
        """The given samples of the inverse transform of the wanted values, the other values being zero."""
        out = _output(out, self.given_shape, self.dtype)
        self._plan.run(_input(values, self.wanted_shape, self.spectrum_dtype, "the values"), out, True)
        return out


class BoxFilter(Pickled):
    """Convolution of a box of samples by a filter with a known spectrum: filter(samples). The samples around the box are zero, and neither
    they nor the results there are computed or stored. A spectrum of ones returns the samples.

    spectrum: one to three axes, complex64 or complex128, frequency 0 first; other types are converted to complex128. box: per axis a pair
    (first, count), a count, or None for the whole axis; a range may continue at the beginning of the axis.

    >>> shift = BoxFilter(np.fft.fft([0, 1, 0, 0, 0, 0]), [3])
    >>> shift([1, 2, 3]).real.round(12).tolist()
    [0.0, 1.0, 2.0]
    """

    def __init__(self, spectrum, box=None, *, workers=None, device=None):
        spectrum = np.asarray(spectrum)
        if spectrum.dtype != np.complex64:
            spectrum = spectrum.astype(np.complex128)
        if not 1 <= spectrum.ndim <= 3 or spectrum.size == 0:
            raise ValueError(f"the spectrum needs one to three axes of at least one point, got the shape {spectrum.shape}")
        self.dtype, made = _made("BoxFilter", spectrum.dtype, (np.complex64, np.complex128))
        self.spectrum_shape, ranges = spectrum.shape, _ranges(box, spectrum.shape, "box")
        self.shape = tuple(ranges[1])
        self._filter = made(device_name(device), [list(spectrum.shape), *ranges], np.ascontiguousarray(spectrum), _threads(workers))

    @property
    def device(self):
        return self._filter.device()

    def explain(self):
        return self._filter.explain()

    def __call__(self, samples, out=None):
        out = _output(out, self.shape, self.dtype)
        samples = _input(samples, self.shape, self.dtype, "the samples")
        if np.shares_memory(samples, out):
            samples = samples.copy()
        self._filter.run(samples, out)
        return out


class RealBoxes(_Planned):
    """Cosine, sine and Hartley transforms of a box of samples, giving a box of the values; other samples are zero.

    shape: of the whole transform. kinds: one per axis, dct1 ... dct4, dst1 ... dst4, hartley, halfcomplex, halfcomplex_inverse, with
    FFTW's definitions, unscaled. given, wanted: per axis a pair (first, count), a count, or None for the whole axis; a range may continue
    at the beginning of the axis.

    >>> smooth = RealBoxes((8,), ["dct2"], given=[2])
    >>> bool(np.allclose(smooth([1.0, 2.0]), RealBoxes((8,), ["dct2"])([1, 2, 0, 0, 0, 0, 0, 0])))
    True
    """

    def __init__(self, shape, kinds, given=None, wanted=None, dtype="float64", *, scale=1.0, workers=None, device=None):
        self.dtype, made = _made("RealBoxes", dtype, (np.float32, np.float64))
        self.shape = _shape(shape)
        kinds = [kinds] if isinstance(kinds, str) else list(kinds)
        for kind in kinds:
            if kind not in _KINDS:
                raise ValueError(f"a kind must be one of {', '.join(_KINDS)}, got {kind!r}")
        given, wanted = _ranges(given, self.shape, "given"), _ranges(wanted, self.shape, "wanted")
        self.input_shape, self.output_shape = tuple(given[1]), tuple(wanted[1])
        self._plan = made(device_name(device), self.shape, [_KINDS.index(kind) for kind in kinds], [*given, *wanted], float(scale),
                          _threads(workers))

    @property
    def share(self):
        """Points of the lines that are transformed, as a share of those of the whole transform."""
        return self._plan.share()

    def __call__(self, samples, out=None):
        out = _output(out, self.output_shape, self.dtype)
        self._plan.run(_input(samples, self.input_shape, self.dtype, "the samples"), out)
        return out

    def adjoint(self):
        """The transpose: from the wanted values to the given samples."""
        other = super().adjoint()
        other.input_shape, other.output_shape = self.output_shape, self.input_shape
        return other
