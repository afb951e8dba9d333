"""Tests Python on CUDA: transforms, import and export by DLPack and __cuda_array_interface__, other workloads, wrong arguments."""
import gc
import sys
import threading
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import device_transforms
import ridge
from foreign_memory import CudaArray, CudaMemory, Producer

DEVICE = next((d["id"] for d in ridge.devices() if d["backend"] == "cuda"), None)
if DEVICE is None:
    print("skipped: no CUDA device")
    sys.exit(77)

random = np.random.default_rng(11)


def complex_of(shape, dtype):
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


def error(got, wanted):
    """Relative error over the whole array; NaN is an error."""
    value = np.linalg.norm((np.asarray(got, np.complex128) - wanted).ravel()) / np.linalg.norm(np.ravel(wanted))
    return value if value == value else np.inf


class Transforms(unittest.TestCase):
    def close(self, got, wanted, single, points):
        self.assertEqual(got.device, DEVICE)
        self.assertEqual(got.shape, wanted.shape)
        bound = (1.2e-7 if single else 2.3e-16) * 1.2 * np.sqrt(np.log2(max(points, 2)) + 1) + (0 if single else 1e-15)
        self.assertLess(error(got.numpy(), wanted), bound)

    def test_one_axis(self):
        for n in (1, 2, 3, 8, 17, 100, 1009, 1024, 4096, 65536, 100000):
            for dtype in (np.complex64, np.complex128):
                x = complex_of((3, n), dtype)
                there = ridge.array(x, DEVICE)
                single = dtype == np.complex64
                self.close(ridge.fft.fft(there), np.fft.fft(x.astype(np.complex128)), single, n)
                self.close(ridge.fft.ifft(there, norm="ortho"), np.fft.ifft(x.astype(np.complex128), norm="ortho"), single, n)
                r = np.ascontiguousarray(x.real)
                spectrum = ridge.fft.rfft(ridge.array(r, DEVICE))
                self.close(spectrum, np.fft.rfft(r.astype(np.float64)), single, n)
                if n > 1:
                    self.close(ridge.fft.irfft(spectrum, n), r.astype(np.float64), single, n)
                np.testing.assert_array_equal(there.numpy(), x)  # the input is kept

    def test_several_axes(self):
        for shape in ((64, 64), (30, 17), (16, 8, 32), (2, 5, 7)):
            x = complex_of(shape, np.complex64)
            self.close(ridge.fft.fftn(ridge.array(x, DEVICE)), np.fft.fftn(x.astype(np.complex128)), True, x.size)
            r = np.ascontiguousarray(x.real)
            self.close(ridge.fft.rfft2(ridge.array(r, DEVICE)), np.fft.rfft2(r.astype(np.float64)), True, x.size)

    def test_every_function_every_axis(self):
        for n, single, thorough in ((12, True, True), (17, True, False), (10, False, False)):  # a shape is a kernel to compile
            device_transforms.every_function(self, DEVICE, n, single, thorough)

    def test_cosines_and_sines(self):
        kinds = [(name, kind) for name in ("dct", "dst") for kind in (1, 2, 3, 4)]
        for n, single in ((16, True), (9, False)):
            device_transforms.cosines_and_sines(self, DEVICE, n, kinds, single)
        device_transforms.cosines_and_sines(self, DEVICE, 8, [("dct", 1), ("idct", 2), ("dst", 3)], thorough=True)
        device_transforms.cosines_and_sines(self, DEVICE, 1000, [("dct", 2), ("idct", 2), ("dst", 1)])
        device_transforms.cosines_and_sines(self, DEVICE, 100000, [("dct", 2)])

    def test_numbers_of_16_bits(self):
        x = random.standard_normal((4, 256, 2)).astype(np.float16)
        plan = ridge.fft.plan_float16(256, batch=4, device=DEVICE)
        got = plan(ridge.array(x, DEVICE)).numpy().astype(np.float64)
        wanted = np.fft.fft(x[..., 0].astype(np.float64) + 1j * x[..., 1])
        self.assertLess(error(got[..., 0] + 1j * got[..., 1], wanted), 1e-3)

    def test_from_many_threads(self):
        x = complex_of((8, 512), np.complex64)
        wanted = np.fft.fft(x.astype(np.complex128))
        errors = []

        def work():
            for _ in range(20):
                errors.append(error(ridge.fft.fft(ridge.array(x, DEVICE)).numpy(), wanted))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(errors), 80)
        self.assertLess(max(errors), 1e-6)


class ForeignMemory(unittest.TestCase):
    def test_dlpack_in(self):
        for dtype, code, bits in ((np.complex64, 5, 64), (np.complex128, 5, 128)):
            x = complex_of((3, 64), dtype)
            memory, deleted = CudaMemory(x.nbytes), []
            memory.put(x)
            theirs = ridge.from_dlpack(Producer(memory, x.shape, code, bits, deleted))
            self.assertEqual((theirs.shape, theirs.dtype, theirs.device), (x.shape, x.dtype, DEVICE))
            self.assertLess(error(ridge.fft.fft(theirs).numpy(), np.fft.fft(x.astype(np.complex128))), 1e-6)
            self.assertEqual(deleted, [])
            held = f"{dtype.__name__}: {sys.getrefcount(theirs)} references, then {[type(r) for r in gc.get_referrers(theirs)]}"
            del theirs
            gc.collect()
            self.assertEqual(deleted, [1], held)

    def test_dlpack_out(self):
        x = complex_of((5, 33), np.complex64)
        ours = ridge.array(x, DEVICE)
        self.assertEqual(ours.__dlpack_device__(), (2, 0))
        for stream in (None, 1, 2, -1):  # none given, legacy default stream, per-thread default stream, no synchronization
            back = ridge.from_dlpack(_Given(ours, stream))
            np.testing.assert_array_equal(back.numpy(), x)
        address = ours.__cuda_array_interface__["data"][0]
        back = ridge.from_dlpack(ours)
        self.assertEqual(back.__cuda_array_interface__["data"][0], address)  # no copy
        seen = []
        thread = threading.Thread(target=lambda: seen.append(ridge.from_dlpack(ours).numpy()))  # this thread has not used CUDA
        thread.start()
        thread.join()
        np.testing.assert_array_equal(seen[0], x)
        del ours
        gc.collect()
        np.testing.assert_array_equal(back.numpy(), x)  # the capsule holds the memory

    def test_cuda_array_interface_in(self):
        x = complex_of((2, 1000), np.complex64)
        theirs = CudaArray(x)
        seen = ridge.asarray(theirs)
        self.assertEqual(seen.__cuda_array_interface__["data"][0], theirs.memory.address)
        for given in (seen, theirs):  # also without wrapping
            self.assertLess(error(ridge.fft.fft(given).numpy(), np.fft.fft(x.astype(np.complex128))), 1e-6)
        self.assertLess(error(ridge.fft.dct(theirs).numpy(), ridge.fft.dct(x.astype(np.complex128))), 1e-6)
        y = complex_of(x.shape, np.complex64)
        theirs.memory.put(y)
        np.testing.assert_array_equal(seen.numpy(), y)  # their memory, not a copy
        theirs.__cuda_array_interface__ = dict(theirs.__cuda_array_interface__, stream=1)
        np.testing.assert_array_equal(ridge.asarray(theirs).numpy(), y)

    def test_arrays_at_any_address(self):
        # Slices and rows of other libraries begin at multiples of their elements; kernels access up to 16 bytes at once.
        for name, shape, dtype in (("fft", 12, "c8"), ("fft", 1000, "c8"), ("fft", 16384, "c8"), ("fft", 65536, "c8"), ("fft2", (64, 64), "c8"),
                                   ("rfft", 20, "f4"), ("rfft", 1024, "f4"), ("rfft", 1024, "f8"), ("irfft", 513, "c8"), ("dct", 16, "f4"),
                                   ("dct", 1000, "f4")):
            x = complex_of((6, *np.atleast_1d(shape)), np.complex128)
            x = (x if dtype[0] == "c" else x.real).astype(dtype)
            wanted = getattr(ridge.fft, name)(x.astype(np.result_type(x, np.float64)))
            for elements in (1, 3):
                there = CudaArray(x, elements * x.itemsize)
                for _ in range(2):
                    self.assertLess(error(getattr(ridge.fft, name)(there).numpy(), wanted), 1e-6, (name, shape, elements))
                np.testing.assert_array_equal(there.memory.get(np.empty_like(x)), x)

    def test_cuda_array_interface_out(self):
        x = complex_of((4, 9), np.complex128)
        d = ridge.array(x, DEVICE).__cuda_array_interface__
        self.assertEqual((d["shape"], d["typestr"], d["version"]), ((4, 9), "<c16", 3))
        kept = ridge.array(x, DEVICE)
        memory, read = CudaMemory(16), np.empty_like(x)
        memory.address = kept.__cuda_array_interface__["data"][0]
        np.testing.assert_array_equal(memory.get(read), x)

    def test_a_stencil_where_the_cells_lie(self):
        u = random.random((40, 64)).astype(np.float32)
        memory = CudaMemory(u.nbytes)
        memory.put(u)
        plan = ridge.stencil.plan({(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}, u, border="periodic", device=DEVICE)
        plan.run(Producer(memory, u.shape, 2, 32, []), 3)
        np.testing.assert_allclose(memory.get(np.empty_like(u)), ridge.stencil.run(plan.update, u, 3, border="periodic"), atol=1e-6)


class _Given:
    def __init__(self, array, stream):
        self._array, self._stream = array, stream

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__(stream=self._stream)


class Workloads(unittest.TestCase):
    def test_a_traced_stencil(self):
        u = random.random((33, 70)).astype(np.float32)

        def step(c):
            return c[0, 0] + 0.1 * (c[0, 1] + c[0, -1] + c[1, 0] + c[-1, 0] - 4 * c[0, 0])
        got = ridge.stencil.plan(step, u, border="periodic", device=DEVICE)(u, 5)
        np.testing.assert_allclose(got, ridge.stencil.run(step, u, 5, border="periodic"), atol=1e-5)

    def test_a_grid_larger_than_the_given_memory(self):
        u = random.random((41, 30)).astype(np.float32)
        update = {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}
        got = ridge.stencil.run(update, u, 9, border="mirror", device=DEVICE, memory=8 * 11 * 30 * 4)
        np.testing.assert_allclose(got, ridge.stencil.run(update, u, 9, border="mirror"), atol=1e-6)

    def test_a_filter_bank(self):
        x = random.integers(-100, 100, 2 * 64 * 40, dtype=np.int8)
        banks = [ridge.filterbank.plan(channels=64, taps=4, polarizations=1, device=d) for d in ("host", DEVICE)]
        host, there = (np.asarray(bank.stream().push(x)) for bank in banks)
        self.assertEqual(host.shape, there.shape)
        self.assertLess(error(there, host), 1e-5)

    def test_images(self):
        image = random.integers(0, 255, (60, 80)).astype(np.uint8)
        np.testing.assert_allclose(ridge.image.variance(image, window=7, device=DEVICE), ridge.image.variance(image, window=7), rtol=1e-4,
                                   atol=1e-2)
        host, there = ridge.image.apply("box 3", image), ridge.image.apply("box 3", image, device=DEVICE)
        self.assertLessEqual(np.max(np.abs(host.astype(int) - there)), 1)


class Mistakes(unittest.TestCase):
    def test_are_exceptions(self):
        x = ridge.array(complex_of((2, 8), np.complex64), DEVICE)
        with self.assertRaises(TypeError):
            np.asarray(x)
        device_transforms.mistakes(self, DEVICE)
        with self.assertRaises((TypeError, ValueError)):
            ridge.fft.plan(np.zeros((2, 8), np.complex64))(x)  # a host plan
        strided = CudaArray(np.zeros(4, np.float32))
        strided.__cuda_array_interface__ = dict(strided.__cuda_array_interface__, strides=(8,))
        with self.assertRaisesRegex(ValueError, "contiguous"):
            ridge.asarray(strided)
        with self.assertRaises((ValueError, MemoryError, RuntimeError)):
            ridge.empty((1 << 30, 1 << 20), np.float32, DEVICE)
        with self.assertRaises((ValueError, RuntimeError)):
            ridge.empty(3, np.float32, "cuda:99")
        np.testing.assert_array_equal(ridge.fft.fft(x).numpy().shape, (2, 8))  # still works after the errors


if __name__ == "__main__":
    print(f"NumPy {np.__version__} on {DEVICE}")
    unittest.main(verbosity=2)
