"""Tests that wrong arguments raise a clear exception and never crash."""
import sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import fft, filterbank, image, nufft, planner, sar, search, stencil

ANY = (ValueError, TypeError, IndexError, MemoryError, OverflowError, NotImplementedError)
failed = tried = 0


def refused(what, call, *kinds):
    global failed, tried
    tried += 1
    try:
        call()
    except (kinds or ANY) as error:
        if str(error):
            return
        print(f"{what}: {type(error).__name__} without a message")
    except BaseException as error:
        print(f"{what}: {type(error).__name__}: {error}")
    else:
        print(f"{what}: taken")
    failed += 1


c = np.ones(16, np.complex64)
read_only = c.copy()
read_only.flags.writeable = False

refused("objects", lambda: fft.fft(np.array([object()])), TypeError)
refused("text", lambda: fft.fft(np.array(["a"])), ValueError)
refused("long double", lambda: fft.fft(np.ones(4, np.longdouble)), NotImplementedError)
refused("times", lambda: fft.fft(np.zeros(3, "M8[s]")), TypeError)
refused("structures", lambda: fft.fft(np.zeros(3, [("a", "f4")])), TypeError)
refused("nothing", lambda: fft.fft(np.zeros(0)), ValueError)
refused("a number", lambda: fft.fft(np.float32(1)))
refused("a negative length", lambda: fft.fft(c, n=-3), ValueError)
refused("a length beyond memory", lambda: fft.fft(c, n=1 << 62))
refused("half a length", lambda: fft.fft(c, n=2.5), TypeError)
refused("an axis that is not there", lambda: fft.fft(c, axis=5), IndexError)
refused("an axis twice", lambda: fft.fftn(np.ones((4, 4)), axes=(0, 0)), ValueError)
refused("a norm", lambda: fft.fft(c, norm="x"), ValueError)
refused("no workers", lambda: fft.fft(c, workers=0), ValueError)
refused("complex samples for rfft", lambda: fft.rfft(c), TypeError)
refused("a type of DCT", lambda: fft.dct(np.ones(4), type=7))

plan = fft.plan(c, measured=False)
refused("read-only output", lambda: plan(c, read_only), ValueError)
refused("another type", lambda: plan(c.astype(np.complex128)))
refused("another type of output", lambda: plan(c, np.ones(16, np.complex128)))
refused("another length", lambda: plan(np.ones(17, np.complex64)), ValueError)
refused("other strides", lambda: plan(np.ones(32, np.complex64)[::2]), ValueError)
refused("None", lambda: plan(None))
refused("a list", lambda: plan([1, 2]))
refused("the same array twice", lambda: plan(c, c), ValueError)
refused("no alignment", lambda: plan(np.frombuffer(bytearray(129), np.uint8)[1:].view(np.complex64)), ValueError)
refused("integers", lambda: fft.plan(np.ones(4, int)), TypeError)
refused("a kind", lambda: fft.plan(c, kind="foo"), ValueError)

refused("a device that is not there", lambda: ridge.array(c, device="cuda:99"), *ANY, RuntimeError)
refused("more than memory", lambda: ridge.empty((1 << 40, 1 << 40), np.float32))
refused("less than nothing", lambda: ridge.empty((-1,), np.float32))
refused("no DLPack", lambda: ridge.from_dlpack(5), *ANY, AttributeError)
for device in ridge.devices()[1:2]:
    there = ridge.array(c, device=device["id"])
    refused("an array of a device to a plan of the host", lambda: plan(there))

places = np.linspace(-3, 3, 16)
for wrong in (3, "x", [1, 2], (20,), object()):
    refused(f"an output that is {wrong!r}", lambda: nufft.nufft1d1(places, c, 20, out=wrong), TypeError)
    refused(f"an output that is {wrong!r}", lambda: nufft.nufft1d1(places, c, out=wrong), TypeError)
    refused(f"an output that is {wrong!r}", lambda: nufft.Normal(20, [places])(np.ones(20), wrong), TypeError)
refused("an output of another shape", lambda: nufft.nufft1d1(places, c, 20, out=np.empty(21, np.complex64)), ValueError)
refused("a read-only output", lambda: nufft.nufft1d2(places, c, out=read_only), ValueError)
refused("another number of points", lambda: nufft.nufft1d1(places[1:], c, 20), ValueError)
refused("an epsilon that is NaN", lambda: nufft.nufft1d1(places, c, 20, eps=float("nan")), ValueError)
refused("modes beyond memory", lambda: nufft.nufft1d1(places, c, 1 << 62))
band = search.Band(1500.0, -1.0, 1e-3)
power = np.zeros((1100, 16), np.uint8)
refused("dispersion measures that are NaN", lambda: search.find(power, band, dm=(0, float("nan"))), ValueError)
refused("dispersion measures as text", lambda: search.find(power, band, dm="0..100"), TypeError)
refused("three dispersion measures", lambda: search.find(power, band, dm=(0, 1, 2)), TypeError)
refused("a band that is a tuple", lambda: search.find(power, (1500.0, -1.0, 1e-3)), TypeError)
refused("a band in Hz", lambda: search.fold(power, search.Band(1.5e9, -1e6, 1e-3), 0.1), ValueError)
refused("complex power", lambda: search.find(power.astype(complex), band), TypeError)
refused("power of one axis", lambda: search.find(power[0], band), ValueError)
refused("a period of 0", lambda: search.fold(power, band, 0.0))
refused("a negative period", lambda: search.fold(power, band, -1.0), ValueError)
refused("bins beyond memory", lambda: search.fold(power, band, 0.1, bins=1 << 60))
refused("a band without width", lambda: search.find(power, search.Band(1500.0, 0.0, 1e-3)), ValueError)

heat = stencil.plan({0: 0.5, 1: 0.5}, np.zeros(10, np.float32), border="periodic")
refused("integer cells", lambda: stencil.plan({0: 1.0}, np.zeros((3, 3), np.int32)))
refused("five axes", lambda: stencil.plan({(0, 0): 1.0}, np.zeros((2,) * 5, np.float32)))
refused("a grid of another shape", lambda: heat.run(np.zeros(11, np.float32)), ValueError)
refused("a read-only grid", lambda: heat.run(np.frombuffer(bytes(40), np.float32)), ValueError)
refused("cells on one another", lambda: heat.run(np.lib.stride_tricks.as_strided(np.zeros(10, np.float32), (10,), (0,))), ValueError)
refused("no steps of whole cells", lambda: heat.run(np.zeros((10, 5), np.uint8)[:, :4].view(np.float32)[:, 0]), ValueError)
refused("steps back", lambda: heat.run(np.zeros(10, np.float32), -1))
refused("cells of another type", lambda: heat.run(np.zeros(10, np.float64)))
refused("a branch on a value", lambda: stencil.plan(lambda u: u[0] if u[0] > 0 else u[1], np.zeros(10)))
refused("a neighbour beyond everything", lambda: stencil.plan({1 << 40: 1.0}, np.zeros(10)))
refused("a border", lambda: stencil.plan({0: 1.0}, np.zeros(10), border="x"))

refused("complex pixels", lambda: image.apply("gauss 2", np.zeros((4, 4), np.complex64)))
refused("an operator", lambda: image.apply("nope 2", np.zeros((4, 4), np.uint8)))
refused("frames that differ", lambda: image.flow(np.zeros((20, 20, 3), np.uint8), np.zeros((20, 21, 3), np.uint8)))
refused("a window of nothing", lambda: image.variance(np.zeros((4, 4), np.float32), window=0))
refused("no channels", lambda: filterbank.plan(channels=0, taps=4))
refused("fewer than none", lambda: filterbank.plan(channels=-1, taps=4))
refused("samples of another type", lambda: filterbank.plan(channels=16, taps=4).stream().push(np.zeros(4, np.float64)))
refused("a frame of another shape", lambda: sar.Radar().focus(np.zeros((3, 3), np.complex64)))
refused("a frame of another type", lambda: sar.Radar().focus(np.zeros((1024, 1024), np.complex128)))
refused("no candidates", lambda: planner.decide("x y", [], lambda name: 1.0))
two = [planner.Candidate("a", flops=1), planner.Candidate("b", flops=1)]
refused("a candidate that fails", lambda: planner.decide("x y", two, lambda name: 1 / 0), ZeroDivisionError)
refused("a time that is not a number", lambda: planner.decide("x y", two, lambda name: "z"), *ANY, RuntimeError)

# Input and output that share memory give the same result as separate ones.
shared = np.arange(40, dtype=np.float32).astype(np.complex64)
wanted = np.fft.fft(shared[:16])
plan(shared[:16], shared[8:24])
assert np.allclose(shared[8:24], wanted, atol=1e-4)

print(f"{tried} mistakes, {failed} of them not refused as they should be")
sys.exit(failed != 0)
