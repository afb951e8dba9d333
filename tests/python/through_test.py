"""Tests transforms, filters and grids of NumPy arrays on another device: `device=`, in panels too. Skipped without a device."""
import os
import pickle
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge
from ridge import fft, filterbank, image, stencil

DEVICES = [d["id"] for d in ridge.devices() if d["id"] != "host"]
if not DEVICES:
    print("skipped: there is no device besides the host")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)
DEVICE = DEVICES[-1]
random = np.random.default_rng(20)


def numbers(shape, dtype):
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def wide(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


class Limited:
    """A limit of the device memory within a block."""

    def __init__(self, bytes):
        self.bytes = bytes

    def __enter__(self):
        ridge.set_device_memory(self.bytes)

    def __exit__(self, *_):
        ridge.set_device_memory(0)


class Transforms(unittest.TestCase):
    def close(self, got, want, single, what):
        self.assertIs(type(got), np.ndarray, what)
        self.assertEqual(got.shape, want.shape, what)
        self.assertEqual(got.dtype.kind, want.dtype.kind, what)
        self.assertEqual(got.dtype.itemsize, want.dtype.itemsize // (2 if single else 1), what)
        error = np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300)
        self.assertLessEqual(error, 1e-6 if single else 4e-15, what)  # fails for NaN too

    def same(self, name, x, **arguments):
        """Compares with NumPy in double precision."""
        before, what = x.copy(), f"{name} of {x.dtype} {x.shape} {arguments}"
        got = getattr(fft, name)(x, device=DEVICE, **arguments)
        self.close(got, getattr(np.fft, name)(wide(x), **arguments), x.dtype.itemsize == (8 if x.dtype.kind == "c" else 4), what)
        np.testing.assert_array_equal(x, before, what)

    def test_lengths_axes_and_norms(self):
        for n in (1, 3, 12):
            x = numbers((3, n), np.complex64)
            self.same("fft", x)
            self.same("ifft", x, norm="ortho")
            self.same("rfft", x.real.copy(), norm="forward")
            if n > 1:
                self.same("irfft", x)
                self.same("hfft", x)
            self.same("ihfft", x.real.copy())
            self.same("fft", x[::-1].T, axis=0)  # strides, and another axis

    def test_cut_and_padded(self):
        x = numbers((3, 9), np.complex64)
        self.same("fft", x, n=12)
        self.same("fft", x, n=3)
        self.same("rfft", x.real.copy(), n=12)
        self.same("irfft", x, n=12)
        self.same("fft", x.T.copy(), n=12, axis=0)

    def test_several_axes(self):
        x = numbers((2, 3, 2, 12), np.complex64)
        self.same("fft2", x)
        self.same("ifftn", x, norm="ortho")  # four axes: more than one plan has
        self.same("rfftn", x.real.copy(), axes=(0, 3))
        self.same("irfftn", x, s=(3, 12), axes=(1, 3))
        self.same("fftn", x, axes=(3, 0))
        for name in ("hfft2", "ihfft2"):
            there = getattr(fft, name)(x if name == "hfft2" else x.real.copy(), device=DEVICE)
            self.close(there, getattr(fft, name)(wide(x) if name == "hfft2" else wide(x).real), True, name)

    def test_types_and_out(self):
        self.close(fft.fft([1, 2, 3], device=DEVICE), np.fft.fft([1.0, 2, 3]), False, "integers")
        x = numbers(12, np.complex64)
        out = np.zeros(12, np.complex64)
        self.assertIs(fft.fft(x, out=out, device=DEVICE), out)
        self.close(out, np.fft.fft(wide(x)), True, "out")
        np.testing.assert_array_equal(fft.fft(x, device="host"), fft.fft(x))
        self.assertEqual(fft.fft(np.zeros((0, 4), np.complex64), device=DEVICE).shape, (0, 4))
        self.assertEqual(fft.dct(np.zeros((0, 4), np.float32), device=DEVICE).shape, (0, 4))

    def test_cosines_and_sines(self):
        x = numbers((4, 12), np.float32)
        for memory in (0, 3 * x.nbytes):  # the second limit: blocks along the first axis
            with Limited(memory):
                for name, kind in (("dct", 2), ("idct", 2), ("dst", 3)):
                    self.close(getattr(fft, name)(x, type=kind, device=DEVICE), getattr(fft, name)(wide(x), type=kind), True, name)
        self.close(fft.dctn(x[0], norm="ortho", device=DEVICE), fft.dctn(wide(x[0]), norm="ortho"), True, "dctn")
        with Limited(64), self.assertRaisesRegex(MemoryError, "cosine and sine transforms of 192 bytes need 768 bytes"):
            fft.dctn(x, device=DEVICE)

    def test_panels(self):
        """Arrays larger than the device memory that may be used."""
        many, one, plane = numbers((64, 96), np.complex64), numbers(4096, np.complex64), numbers((48, 64), np.complex64)
        with Limited(20000):
            self.assertIn("panels", fft.plan(many, measured=False, device=DEVICE).explain())
            self.same("fft", many)
            self.same("rfft", many.real.copy())
            self.same("irfft", many)
            self.same("fft", many.T, axis=0)
            self.same("fft", many[:, :90], n=96)
            self.same("ifft", one)
            self.same("fft2", plane)
        self.same("fft", many)  # without the limit again

    def test_plans(self):
        for kind, dtype, inverse in (("complex", np.complex64, False), ("complex", np.complex64, True), ("real", np.float32, False),
                                     ("real", np.complex64, True)):
            x = numbers((2, 12, 3), dtype)
            p = fft.plan(x, axes=1, kind=kind, inverse=inverse, norm="ortho", measured=False, device=DEVICE)
            name = ("i" if inverse else "") + ("rfft" if kind == "real" else "fft")
            want = getattr(np.fft, name)(wide(x), axis=1, norm="ortho")
            for made in (p, pickle.loads(pickle.dumps(p))):
                self.assertEqual(made.device, DEVICE)
                self.close(made(x), want, True, name)
            out = np.empty_like(made(x))
            self.assertIs(p(x, out), out)
            self.close(out, want, True, name)
            g = numbers(out.shape, out.dtype)
            back = p.adjoint()(g)
            self.assertEqual((back.shape, back.dtype), (x.shape, x.dtype))
            self.assertLess(abs(np.vdot(wide(g), wide(out)).real - np.vdot(wide(back), wide(x)).real), 1e-4, name)
            self.close(p.adjoint().adjoint()(x), want, True, name)
            self.assertIn(DEVICE, p.explain())

    def test_convolution(self):
        weights, signal = numbers(5, np.float32), numbers(2000, np.float32)
        plan = fft.convolution(weights, device=DEVICE)
        self.close(plan(signal), np.convolve(wide(signal), wide(weights)), True, "convolution")
        g = numbers(2004, np.float32)
        self.close(plan.adjoint()(g), np.correlate(wide(g), wide(weights), "valid"), True, "its adjoint")
        self.assertEqual(pickle.loads(pickle.dumps(plan)).device, DEVICE)

    def test_mistakes(self):
        x = numbers((2, 12), np.complex64)
        there = ridge.array(x, DEVICE)
        plan = fft.plan(x, measured=False, device=DEVICE)
        for wrong, text, call in (
                (TypeError, 'device must be a name such as "cuda:0"', lambda: fft.fft(x, device=0)),
                (RuntimeError, "opencl:99", lambda: fft.fft(x, device="opencl:99")),
                (TypeError, "x must be a real sequence", lambda: fft.rfft(x, device=DEVICE)),
                (IndexError, "axis 2", lambda: fft.fft(x, axis=2, device=DEVICE)),
                (ValueError, "the array is on", lambda: fft.fft(there, device="host")),
                (ValueError, "the array is on", lambda: fft.dct(ridge.array(x.real, DEVICE), device="cuda:77")),
                (ValueError, "the plan's shape", lambda: plan(x[:1])),
                (ValueError, "the plan's shape", lambda: plan(x.astype(np.complex128))),
                (ValueError, "1 to 3 axes", lambda: fft.plan(np.zeros((2, 2, 2, 2), "c8"), axes=(0, 1, 2, 3), device=DEVICE)),
                (TypeError, "device must be", lambda: stencil.run({0: 1.0}, np.zeros(4, np.float32), device=1)),
                (TypeError, "device must be", lambda: image.variance(np.zeros((4, 4), np.uint8), 3, device=1)),
                (TypeError, "device must be", lambda: filterbank.plan(device=1))):
            with self.assertRaisesRegex(wrong, text) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception).strip())
        np.testing.assert_array_equal(fft.fft(there, device=DEVICE).numpy(), fft.fft(there).numpy())

    def test_tensors_keep_their_device(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no torch")
        with self.assertRaisesRegex(TypeError, "device= is for arrays in host memory, got an array of torch"):
            fft.fft(torch.zeros(4), device=DEVICE)


class Grids(unittest.TestCase):
    def test_stencil_larger_than_the_device(self):
        u = numbers((200, 32), np.float32)
        mean = {(-1, 0): 0.25, (1, 0): 0.25, (0, -1): 0.25, (0, 1): 0.25}
        want = stencil.run(mean, u.astype(np.float64), 7, border="periodic")
        for memory in (0, 12000):
            with Limited(memory):
                got = stencil.run(mean, u, 7, border="periodic", device=DEVICE)
            self.assertLess(np.abs(got - want).max(), 1e-5)

    def test_none_is_the_host(self):
        self.assertEqual(stencil.plan({0: 1.0}, np.zeros(4, np.float32), device=None).device, "host")
        self.assertEqual(filterbank.plan(channels=8, taps=2, device=None).device, "host")
        self.assertEqual(ridge.device_memory(None) > 0, True)


if __name__ == "__main__":
    unittest.main()
