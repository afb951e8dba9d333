"""Polyphase filter banks: a stream of samples in, channels out, with exact state between calls.

>>> import numpy as np
>>> from ridge import filterbank
>>> bank = filterbank.plan(channels=16, taps=8, polarizations=1, samples="float32")
>>> tone = np.exp(2j * np.pi * 3 / 16 * np.arange(16 * 64)).astype(np.complex64)
>>> spectra = bank.stream().push(tone)
>>> spectra.shape                                   # time, polarization, station, channel
(64, 1, 1, 16)
>>> int(np.abs(spectra[-1, 0, 0]).argmax()), round(float(np.abs(spectra[-1, 0, 0, 3])), 3)
(3, 1.0)
"""
import numpy as np

from . import _ridge
from ._pickled import Pickled
from ._picture import Shown
from .array import device_name

__all__ = ["plan", "Bank", "Stream", "Power", "Correlator", "Synthesis", "design", "response", "quality"]


def design(channels, taps, window="kaiser", shape=0.0, width=1.0):
    """A prototype filter: a windowed sinc of channels * taps values with sum 1.

    >>> from ridge import filterbank
    >>> round(float(filterbank.design(64, 8).sum()), 12)
    1.0
    """
    return np.array(_ridge.design_prototype(channels, taps, window, shape, width))


def response(prototype, channels, offset):
    """The gain `offset` channels from a channel's centre, in dB relative to the centre."""
    return _ridge.prototype_response([float(v) for v in np.ravel(prototype)], channels, offset)


def quality(prototype, channels, beyond=1.5):
    """Leakage further than `beyond` channels away, ripple within a quarter channel, gain at half a channel; all in dB."""
    leakage, ripple, edge = _ridge.prototype_quality([float(v) for v in np.ravel(prototype)], channels, beyond)
    return {"leakage_db": leakage, "ripple_db": ripple, "edge_db": edge}


_TYPES = {"int8": np.dtype(np.int8), "int16": np.dtype(np.int16), "float32": np.dtype(np.float32), "int4": np.dtype(np.uint8)}


def _samples(x, kind):
    """Checks samples: bytes, arrays of the bank's type, or complex64 for float samples."""
    if isinstance(x, (bytes, bytearray, memoryview)):
        return x
    x = np.asarray(x)
    if kind == "float32" and x.dtype == np.complex64:
        return np.ascontiguousarray(x)
    if x.dtype != _TYPES[kind] and not (kind in ("int4", "int8") and x.dtype in (np.int8, np.uint8)):
        raise TypeError(f"the bank needs samples of type {kind} ({_TYPES[kind]}, real and imaginary parts interleaved), got {x.dtype}")
    return np.ascontiguousarray(x)


def _problem_of_lines(channels, taps, how):
    """Arguments of plan() for separate streams of complex samples at critical sampling."""
    if "oversampling" in how or "stations" in how or "polarizations" in how:
        raise ValueError("channelize is for critical sampling, one station and one polarization: leave those arguments out")
    return {"channels": channels, "taps": taps, "polarizations": 1, "samples": "float32", **how}


def _spectra_of_lines(x, problem, skip=0):
    """Spectra (..., time, channel) of streams along the last axis of x, without the first `skip` spectra of each."""
    bank = plan(**problem)
    lines = [bank.stream().push(np.ascontiguousarray(line, np.complex64))[skip:, 0, 0] for line in x.reshape(-1, x.shape[-1])]
    return np.array(lines, np.complex64).reshape(*x.shape[:-1], -1, problem["channels"])


class Bank(Pickled, Shown):
    """A planned filter bank; any number of streams can use it."""

    def __init__(self, problem, device, measured):
        self._problem, self._plan = problem, _ridge.Bank(device_name(device), problem, measured)
        self.channels, self.stations, self.polarizations = problem["channels"], problem["stations"], problem["polarizations"]
        self.samples = problem["samples"]

    @property
    def hop(self):
        """Samples between two consecutive spectra."""
        return self._plan.hop()

    @property
    def history(self):
        """Samples before the newest that a spectrum depends on."""
        return self._plan.history()

    @property
    def weights(self):
        """The prototype filter."""
        return np.array(self._plan.weights())

    @property
    def variant(self):
        """Name of the chosen variant."""
        return self._plan.variant()

    @property
    def device(self):
        return self._plan.device()

    def stream(self):
        """Starts a stream of samples through this bank."""
        return Stream(self)

    def power(self, products="total", times=1, channels=1):
        """Power of the channels of a sample stream, summed over times and adjacent channels: "total", "powers" or "stokes"."""
        return Power(self, products, times, channels)

    def correlator(self, times=256, channels=1):
        """Correlator of spectra: products of all pairs of stations."""
        return Correlator(self, times, channels)

    def synthesis(self, length=1.5):
        """Synthesis of samples from spectra."""
        return Synthesis(self, length)

    def adjoint(self, spectra):
        """The conjugate transpose of the map from float samples to spectra, applied to spectra of a whole stream.

        Returns one sample per sample that the spectra read, in the order of the input: the gradient with respect to the samples.
        """
        spectra = np.ascontiguousarray(spectra, np.complex64)
        samples = spectra.size // (self.channels * self.polarizations * self.stations) * self.hop
        block = self._problem.get("input_block") or self.channels
        out = np.empty((-(-samples // block), self.stations, block, self.polarizations), np.complex64)
        self._plan.adjoint(spectra, out)
        return out.reshape(-1) if self.stations == self.polarizations == 1 else out

    def adjoint_weights(self, samples, spectra):
        """The gradient with respect to the prototype, given the samples of a whole stream and the gradient of its spectra."""
        return np.array(self._plan.adjoint_weights(np.ascontiguousarray(samples, np.complex64),
                                                   np.ascontiguousarray(spectra, np.complex64)))

    def _shape(self, times):
        if not self._problem["by_channel"]:
            return (times, self.polarizations, self.stations, self.channels)
        block = self._problem["output_times"]
        return (times // block, self.channels, self.stations, self.polarizations, block)


class Stream:
    """A stream of samples. The spectra do not depend on how the samples are divided into pushes, to the last bit.

    >>> from ridge import filterbank
    >>> bank = filterbank.plan(channels=8, taps=4, polarizations=1, samples="float32")
    >>> x = (np.arange(512) % 7).astype(np.complex64)
    >>> whole, s = bank.stream().push(x), bank.stream()
    >>> bool((np.concatenate([s.push(x[:100]), s.push(x[100:])]) == whole).all())
    True
    """

    def __init__(self, bank):
        self._bank, self._stream = bank, _ridge.BankStream(bank._plan)

    def __reduce__(self):
        return _restored, (self._bank, self.save())

    def push(self, samples, out=None):
        """Adds any number of samples (or bytes) and returns the completed spectra: time, polarization, station, channel."""
        samples = _samples(samples, self._bank.samples)
        due = self._stream.due(memoryview(samples).nbytes)
        if out is None:
            out = np.empty(self._bank._shape(due), np.complex64)
        written = self._stream.push(samples, out)
        return out if written == due and out.shape[0] == self._bank._shape(due)[0] else out[: self._bank._shape(written)[0]]

    def start_at(self, spectrum):
        """Starts a new stream at this spectrum; returns the index of the first sample to push."""
        return self._stream.start_at(spectrum)

    @property
    def samples(self):
        """Number of samples pushed so far, per station."""
        return self._stream.samples()

    @property
    def spectra(self):
        """Number of spectra returned so far."""
        return self._stream.spectra()

    def replace_weights(self, weights, sample):
        """Changes the prototype from the first spectrum on whose newest sample has this index."""
        self._stream.replace_weights([float(v) for v in np.ravel(weights)], sample)

    def set_delays(self, sample, delays):
        """Sets delays, in samples, at a sample index: one per (polarization, station)."""
        self._stream.set_delays(sample, [float(v) for v in np.ravel(delays)])

    def save(self):
        """The complete state, as bytes, for restore() in a later process."""
        return self._stream.save()

    def restore(self, state):
        """Continues exactly from the state of save()."""
        self._stream.restore(state)


def _restored(bank, state):
    stream = Stream(bank)
    stream.restore(state)
    return stream


class Power:
    """Power of a sample stream: (time, station, product, channel)."""

    def __init__(self, bank, products, times, channels):
        self._bank = bank
        self._stream = _ridge.PowerStream(bank.device, bank._problem, products, times, channels, False)
        self._channels = bank.channels // channels
        self._products = self._stream.row_size() // (self._channels * bank.stations)

    def push(self, samples):
        """Adds samples and returns the completed sums."""
        samples = _samples(samples, self._bank.samples)
        due = self._stream.due(memoryview(samples).nbytes)
        out = np.empty((due, self._bank.stations, self._products, self._channels), np.float32)
        return out[: self._stream.push(samples, out)]


class Correlator:
    """Correlates spectra to (integration, baseline, channel, polarization of i, polarization of j).

    Baseline j (j + 1) / 2 + i is the pair of stations i <= j.

    >>> from ridge import filterbank
    >>> bank = filterbank.plan(channels=8, taps=4, stations=3, polarizations=1, samples="float32")
    >>> bank.correlator(times=4).push(np.ones((8, 1, 3, 8), np.complex64)).shape
    (2, 6, 8, 1, 1)
    """

    def __init__(self, bank, times, channels):
        self._bank = bank
        self._times, self._channels = times, channels
        self._correlator = _ridge.Correlator(bank.device, bank._problem, times, channels)

    def push(self, spectra):
        """Adds spectra and returns the completed integrations."""
        spectra = np.ascontiguousarray(spectra)
        one = self._bank.channels * self._bank.stations * self._bank.polarizations
        due = self._correlator.due(spectra.size // one)
        p = self._bank.polarizations
        out = np.empty((due, self._correlator.baselines(), self._correlator.channels(), p, p), np.complex64)
        return out[: self._correlator.push(spectra, out)]

    def adjoint(self, spectra, gradient):
        """Gradient by the spectra of whole integrations, from the gradient by their sums (as push() returns them).

        >>> from ridge import filterbank
        >>> correlator = filterbank.plan(channels=2, taps=1, stations=1, polarizations=1, samples="float32").correlator(times=1)
        >>> x = np.full((1, 1, 1, 2), 3 + 4j, np.complex64)
        >>> correlator.adjoint(x, np.ones((1, 1, 2, 1, 1), np.complex64)).ravel()    # of |x|^2: 2 x
        array([6.+8.j, 6.+8.j], dtype=complex64)
        """
        spectra = np.ascontiguousarray(spectra, np.complex64)
        out = np.empty_like(spectra)
        _ridge.correlator_adjoint(self._bank._problem, self._times, self._channels, spectra,
                                  np.ascontiguousarray(gradient, np.complex64), out)
        return out


class Synthesis:
    """Samples from spectra: (step, station, sample, polarization), delayed by `delay` samples."""

    def __init__(self, bank, length):
        self._bank, self._synthesis = bank, _ridge.Synthesis(bank._problem, length)

    @property
    def delay(self):
        return self._synthesis.delay()

    def push(self, spectra):
        """Adds spectra and returns one step of hop samples per spectrum."""
        spectra = np.ascontiguousarray(spectra)
        steps = spectra.size // (self._bank.channels * self._bank.stations * self._bank.polarizations)
        out = np.empty((steps, self._bank.stations, self._synthesis.hop(), self._bank.polarizations), np.complex64)
        return out[: self._synthesis.push(spectra, out)]


def plan(channels=256, taps=16, stations=1, polarizations=2, samples="int8", oversampling=(1, 1), window="kaiser", shape=0.0,
         width=1.0, weights=None, input_block=0, centred=False, bandpass=None, order="time", output_times=16, delays=None,
         device="host", workers=None, measured=False):
    """A plan of a filter bank. samples: complex "int4", "int8", "int16" or "float32". order: "time" or "channel" (for a correlator).

    delays: (centre frequency of the band in cycles per sample, longest delay in samples) to compensate delays; None for none.
    """
    frequency, longest = (0.0, 0) if delays is None else np.ravel(delays)
    if order not in ("time", "channel"):
        raise ValueError(f'unknown order {order!r}: use "time" or "channel"')
    problem = {
        "channels": channels, "taps": taps, "stations": stations, "polarizations": polarizations,
        "samples": samples, "oversampling": tuple(np.ravel(oversampling).tolist()),
        "window": window, "shape": float(shape), "width": float(width),
        "weights": [] if weights is None else [float(v) for v in np.ravel(weights)],
        "input_block": input_block, "centred": centred,
        "bandpass": [] if bandpass is None else [complex(v) for v in np.ravel(bandpass)],
        "by_channel": order == "channel", "output_times": output_times, "delays": delays is not None,
        "frequency": float(frequency), "longest_delay": int(longest),
        "threads": workers or 0,
    }
    return Bank(problem, device, measured)
