"""Transforms of labelled arrays: dimensions by name, frequencies as coordinates.

    import xarray, ridge.xarray
    spectrum = ridge.xarray.rfft(da, dim="time")          # dimension "freq_time" with the frequencies of the coordinate "time"
"""
import numpy as np
import xarray as _xarray

from . import fft as _fft, filterbank as _filterbank

__all__ = ["fft", "rfft", "ifft", "irfft", "channelize"]

_PREFIX = "freq_"


def _spacing(da, dim):
    """The distance of the coordinate's values, 1 without a coordinate; seconds for times."""
    if dim not in da.dims:
        raise ValueError(f"no dimension {dim!r}: the array has {da.dims}")
    if dim not in da.coords or da.sizes[dim] < 2:
        return 1.0
    values = da.coords[dim].values
    if values.dtype.kind in "mM":
        values = (values - values[0]) / np.timedelta64(1, "ns") * 1e-9
    steps = np.diff(values.astype(float))
    if not np.allclose(steps, steps[0], rtol=1e-4, atol=0) or steps[0] == 0:
        raise ValueError(f"the coordinate {dim!r} is not evenly spaced: a transform needs one distance between all values")
    return float(steps[0])


def _labelled(da, out, dim, new, values):
    dims = tuple(new if d == dim else d for d in da.dims)
    coordinates = {name: c for name, c in da.coords.items() if dim not in c.dims}
    return _xarray.DataArray(out, dims=dims, coords={**coordinates, new: values}, name=da.name, attrs=da.attrs)


def _to_frequencies(name, da, dim, norm):
    spacing, axis = _spacing(da, dim), da.get_axis_num(dim)
    out = getattr(_fft, name)(da.data, axis=axis, norm=norm)
    frequencies = (_fft.rfftfreq if name == "rfft" else _fft.fftfreq)(da.sizes[dim], spacing)
    return _labelled(da, out, dim, _PREFIX + dim, (_PREFIX + dim, frequencies, {"spacing": spacing}))


def fft(da, dim, norm=None):
    """The transform along a dimension; the result has the dimension "freq_" + dim with frequencies as coordinates."""
    return _to_frequencies("fft", da, dim, norm)


def rfft(da, dim, norm=None):
    """The transform of real values along a dimension: non-negative frequencies only."""
    return _to_frequencies("rfft", da, dim, norm)


def _from_frequencies(name, da, dim, n, norm):
    new = dim[len(_PREFIX):] if dim.startswith(_PREFIX) else "inverse_" + dim
    step, axis = _spacing(da, dim) if dim not in da.coords else None, da.get_axis_num(dim)
    length = n if n is not None else 2 * (da.sizes[dim] - 1) if name == "irfft" else da.sizes[dim]
    if step is None:
        spacing = da.coords[dim].attrs.get("spacing") or 1.0 / (length * abs(float(da.coords[dim][1] - da.coords[dim][0])))
    else:
        spacing = 1.0
    out = getattr(_fft, name)(da.data, length, axis=axis, norm=norm)
    return _labelled(da, out, dim, new, (new, np.arange(length) * spacing))


def ifft(da, dim, norm=None):
    """The inverse of fft along a frequency dimension; coordinates of the result begin at 0."""
    return _from_frequencies("ifft", da, dim, None, norm)


def irfft(da, dim, n=None, norm=None):
    """The inverse of rfft; n is the number of values, by default 2*(m-1)."""
    return _from_frequencies("irfft", da, dim, n, norm)


def channelize(da, dim, channels=256, taps=16, **how):
    """Spectra of complex samples along a dimension by a polyphase filter bank, lazily for chunks of dask.

    The result ends with the dimensions dim and "freq_" + dim: the coordinate of each spectrum's newest samples, and frequencies.
    Arguments are those of ridge.dask.channelize.
    """
    spacing, x = _spacing(da, dim), da.transpose(..., dim)
    if x.sizes[dim] % channels:
        raise ValueError(f"needs a multiple of {channels} samples along {dim!r}, got {x.sizes[dim]}: cut the array with isel()")
    if type(x.data).__module__.partition(".")[0] == "dask":
        from . import dask
        out = dask.channelize(x.data, channels, taps, **how)
    else:
        out = _filterbank._spectra_of_lines(np.asarray(x.data), _filterbank._problem_of_lines(channels, taps, how))
    coordinates = {name: c for name, c in x.coords.items() if dim not in c.dims}
    if dim in x.coords:
        coordinates[dim] = x.coords[dim][::channels]
    coordinates[_PREFIX + dim] = (_PREFIX + dim, _fft.fftfreq(channels, spacing), {"spacing": spacing})
    return _xarray.DataArray(out, dims=(*x.dims, _PREFIX + dim), coords=coordinates, name=da.name, attrs=da.attrs)
