"""Lazy transforms of dask arrays: one task per chunk, for transformed axes of one chunk, and filter banks over chunks.

    import dask.array as da, ridge.dask
    y = ridge.dask.rfft(x)                        # nothing is computed yet; x.chunks along the last axis must be one

Names and arguments are those of ridge.fft. An axis of several chunks raises ValueError with the call of rechunk() that is needed; for
arrays larger than memory use `ridge fft in.npy out.npy --memory`.
"""
import functools

import dask.array as _da
import numpy as np

from . import fft as _fft, filterbank as _filterbank
from ._fft_arguments import _one, _shape_and_axes
from ._foreign import named
from ._transforms import (COSINE as _COSINE, COSINES as _COSINES, FOURIER as _FOURIER, HALF as _HALF, NAMES as _NAMES,
                          SAMPLES as _SAMPLES, default_axes as _default_axes)

__all__ = [*_NAMES, "channelize"]


def _axes_and_lengths(name, x, given):
    """Transformed axes, and the lengths of the result along them."""
    kind, several = (_COSINE, _COSINES[name][2]) if name in _COSINES else (_FOURIER[name][0], _FOURIER[name][2])
    if several:
        lengths, axes = _shape_and_axes(x, given.get("s"), given.get("axes", _default_axes(name)), kind == _SAMPLES)
    else:
        lengths, axes = _one(x, given.get("n"), given.get("axis", -1), kind == _SAMPLES)
    if kind == _HALF and lengths:
        lengths[-1] = lengths[-1] // 2 + 1
    return axes, lengths


def _transform(name, x, args, kwargs):
    if not isinstance(x, _da.Array):
        raise TypeError(f"ridge.dask.{name} needs a dask array, got {type(x).__name__}")
    given = named(name, args, kwargs)
    function = getattr(_fft, name)
    axes, lengths = _axes_and_lengths(name, x, given)
    if not axes:
        return x
    for axis in axes:
        if x.numblocks[axis] != 1:
            raise ValueError(f"axis {axis} has {x.numblocks[axis]} chunks and is transformed: call x.rechunk({{{axis}: -1}}) first")
    chunks = list(x.chunks)
    for axis, length in zip(axes, lengths):
        chunks[axis] = (length,)
    result = function(np.ones((2,) * x.ndim, x.dtype), **{k: v for k, v in given.items() if k not in ("n", "s", "workers")}).dtype
    return x.map_blocks(functools.partial(function, **given), dtype=result, chunks=tuple(chunks),
                        meta=np.empty((0,) * x.ndim, result))


def _lazy(name):
    def call(x, *args, **kwargs):
        return _transform(name, x, args, kwargs)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"ridge.fft.{name} of each chunk; the transformed axes must be one chunk."
    return call


for _name in __all__[:-1]:
    globals()[_name] = _lazy(_name)


def _spectra(block, problem, skip, block_id=None):
    """Spectra of a chunk that is preceded by the filter's earlier samples, except for the first one."""
    first = block_id is not None and len(block_id) > 1 and block_id[-2] == 0
    return _filterbank._spectra_of_lines(block, problem, 0 if first else skip)


def channelize(x, channels=256, taps=16, **how):
    """Spectra (..., time, channel) of chunked streams of complex samples by a polyphase filter bank, one task per chunk.

    Time is the last axis of x; the others count separate streams. Chunks along it must be multiples of the channels. Arguments are those
    of ridge.filterbank.plan for one station and polarization of float32 samples, at critical sampling.
    """
    problem = _filterbank._problem_of_lines(channels, taps, how)
    times = x.chunks[-1] if x.ndim else (1,)
    if any(n % channels for n in times):
        raise ValueError(f"needs chunks of a multiple of {channels} samples along the last axis, got {times}: "
                         f"call x.rechunk({{{x.ndim - 1}: {channels * 1024}}})")
    before = (taps - 1) * channels
    if before and any(n < before for n in times[:-1]):
        raise ValueError(f"chunks must hold at least the filter's {before} earlier samples, got {times}: rechunk")
    padded = _da.overlap.overlap(x.astype(np.complex64), {x.ndim - 1: (before, 0)}, {x.ndim - 1: "none"}, allow_rechunk=False)
    return padded.map_blocks(_spectra, problem, taps - 1, dtype=np.complex64, new_axis=x.ndim,
                             chunks=(*x.chunks[:-1], tuple(n // channels for n in times), (channels,)))
