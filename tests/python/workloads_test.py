"""Compares stencils, filter banks, radar, images and device arrays with NumPy; wrong input raises an exception, never a crash."""
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import device_transforms
import ridge
from foreign_memory import CudaMemory, HostMemory, Producer
from ridge import filterbank, image, sar, search, stencil

random = np.random.default_rng(3)


def heat_by_numpy(u, steps):
    for _ in range(steps):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u


class Stencils(unittest.TestCase):
    def test_traced_weights_and_arrays_agree(self):
        def step(u):
            return u[0, 0] + 0.1 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])
        weights = {(0, 0): 0.6, (-1, 0): 0.1, (1, 0): 0.1, (0, -1): 0.1, (0, 1): 0.1}
        array = np.array([[0, 0.1, 0], [0.1, 0.6, 0.1], [0, 0.1, 0]])
        for dtype, allowed in ((np.float32, 1e-5), (np.float64, 1e-13)):
            u = random.random((37, 53)).astype(dtype)
            want = heat_by_numpy(u.astype(np.float64), 7)
            for what in (step, weights, array):
                got = stencil.run(what, u, 7, border="periodic")
                self.assertEqual(got.dtype, dtype)
                np.testing.assert_allclose(got, want, rtol=0, atol=allowed)
            self.assertTrue(stencil.update(step).linear(dtype))

    def test_nonlinear_functions_to_the_last_bit(self):
        def step(u, v, *, k):
            mean = (u[-1] + u[1]) * 0.5
            new = stencil.select((mean > u[0]) & ~(v[0] == 0), stencil.max(u[0], v[1]) * k[0], stencil.abs(u[0] - v[-1]))
            return stencil.sqrt(new * new + 1) - stencil.fma(u[0], v[0], k[1]), stencil.min(v[0] / (1 + u[0] ** 2), 3)
        for n in (1, 5, 255, 256, 257, 700):
            for dtype in (np.float32, np.float64):
                state = random.standard_normal((2, n)).astype(dtype)
                k = random.random((2, n)).astype(dtype)
                made = stencil.update(step)
                self.assertEqual((made.fields, made.coefficients, made.dimensions), (2, 1, 1))
                with self.assertRaises(ValueError):
                    stencil.run(made, state, border="periodic")
                with self.assertRaises(ValueError):
                    stencil.run(made, state, border="periodic", coefficients=k)
                k = k[:1].copy()
                got = stencil.run(made, state, border="periodic", coefficients=k, workers=1)
                u, v, c = state[0], state[1], k[0]
                left, right, one = (lambda a: np.roll(a, 1)), (lambda a: np.roll(a, -1)), dtype(1)
                mean = (left(u) + right(u)) * dtype(0.5)
                new = np.where((mean > u) & ~(v == 0), np.maximum(u, right(v)) * c, np.abs(u - left(v)))
                fused = (u.astype(np.longdouble) * v + right(c)).astype(dtype)  # equals an FMA up to the last bit
                np.testing.assert_allclose(got[0], np.sqrt(new * new + one) - fused, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)
                np.testing.assert_array_equal(got[1], np.minimum(v / (one + u * u), dtype(3)))

    def test_integers(self):
        rule = stencil.update(lambda c: stencil.select(c[-1, 0] + c[1, 0] > 250, c[0, 0] / 2, c[0, 0] + 3))
        for dtype in (np.uint8, np.int32):
            c = random.integers(0, 200, (20, 300)).astype(dtype)
            total = np.roll(c, 1, 0).astype(int) + np.roll(c, -1, 0)
            want = np.where(total > 250, c // 2, c + 3).astype(dtype)
            np.testing.assert_array_equal(stencil.run(rule, c, border="periodic"), want)
        for bad in (lambda c: c[0] / 0, lambda c: c[0] / c[1], lambda c: c[0] / -1):
            with self.assertRaises(ValueError):
                stencil.run(bad, np.zeros(9, np.int32), border="periodic")

    def test_plans_in_place_and_sessions(self):
        u = random.random((40, 40))
        plan = stencil.plan(stencil.heat(1.0, 0.1, (1.0, 1.0)), u, border="periodic")
        want = heat_by_numpy(u.copy(), 6)
        session = plan.start(u)
        session.run(4)
        self.assertGreater(session.change(), 0)
        session.run(1)
        np.testing.assert_allclose(session.read(), want, atol=1e-13)
        self.assertIs(plan.run(u, 6), u)
        np.testing.assert_allclose(u, want, atol=1e-13)
        self.assertGreater(plan.bytes, 0)

    def test_numbers_before_cells(self):
        u = random.random((6, 9)) + 1
        np.testing.assert_allclose(stencil.run(lambda u: 3 - u[0, 0], u), 3 - u, rtol=1e-14)
        np.testing.assert_allclose(stencil.run(lambda u: 2 / u[0, 0] + 1 * u[0, 0], u), 2 / u + u, rtol=1e-14)

    def test_waves(self):
        def made(**options):
            return stencil.Wave((20, 22), 1900, sources=[[[3, 5.5]], [[3, 16]]], receivers=[[4, x + 0.25] for x in range(2, 20, 3)], steps=60,
                                spacing=10, dtype=np.float64, dt=2e-3, frequency=20, exact=True, **options)
        wave, batch = made(), made(batch=2)
        model, by = np.full((20, 22), 1500.0), random.normal(size=(20, 22))
        goal = wave.forward(model * 1.01)
        misfit, slope = wave.gradient(model, goal)
        self.assertAlmostEqual(misfit, 0.5 * ((wave.forward(model) - goal) ** 2).sum(), delta=1e-12 * misfit)
        change = (wave.gradient(model + 1e-3 * by, goal)[0] - wave.gradient(model - 1e-3 * by, goal)[0]) / 2e-3
        self.assertAlmostEqual(change, (slope * by).sum(), delta=1e-6 * abs(slope * by).sum())
        np.testing.assert_allclose(batch.forward(model), wave.forward(model), atol=1e-12 * abs(goal).max())
        np.testing.assert_allclose(batch.gradient(model, goal)[1], slope, atol=1e-12 * abs(slope).max())
        own, pulses = wave.adjoint(model, wave.forward(model) - goal)
        np.testing.assert_allclose(own, slope, atol=1e-12 * abs(slope).max())
        self.assertEqual(pulses.shape, (2, 1, 60))
        for wrong in (lambda: wave.forward(model[1:]), lambda: wave.gradient(model, goal[:1]), lambda: made(batch=1, layer=-1),
                      lambda: stencil.Wave((20, 22), 1900, sources=[[3]], receivers=[[3, 4]], steps=3)):
            with self.assertRaises((ValueError, TypeError)):
                wrong()
        with self.assertRaises(Exception):
            wave.forward(model * 0)
        try:
            import torch
        except ImportError:
            return
        velocity = torch.from_numpy(model).requires_grad_()
        (0.5 * (wave(velocity) - torch.from_numpy(goal)) ** 2).sum().backward()
        np.testing.assert_allclose(velocity.grad.numpy(), slope, atol=1e-12 * abs(slope).max())

    def test_traced_on_a_device(self):
        device = next((d["id"] for d in ridge.devices() if d["backend"] != "host"), None)
        if device is None:
            self.skipTest("no device beside the host")
        u = random.random((33, 65)).astype(np.float32)
        step = stencil.update(lambda u: u[0, 0] + 0.1 * (u[-1, 0] - u[0, 0] * u[0, 1]))
        on_device = stencil.plan(step, u, border="periodic", device=device)
        self.assertIn("KERNEL", on_device.source)
        np.testing.assert_allclose(on_device(u, 3), stencil.run(step, u, 3, border="periodic"), rtol=1e-6)

    def test_wrong_input(self):
        u = np.zeros((16, 16), np.float32)
        plan = stencil.plan({(0, 0): 1.0, (0, 1): 0.5}, u)
        read_only = u.copy()
        read_only.flags.writeable = False
        for wrong, error in ((u.astype(float), TypeError), (u[::2], ValueError), (read_only, ValueError), (np.zeros((16, 15), np.float32), ValueError), ("no array", TypeError), (None, TypeError)):
            with self.assertRaises(error, msg=repr(wrong)[:40]):
                plan.run(wrong)
        for wrong in (lambda u: 3.0, lambda u: u, lambda u: "x", lambda u: u[0, 0] if u[0, 0] > 1 else 0, lambda u: u[0, 0] + u[0],
                      lambda u: u[0.5, 0], lambda *u: u[0][0, 0], lambda u, v: u[0, 0], lambda u: (u[0, 0] > 1) + 1, lambda u: u + 1,
                      {}, {(0, 0): 1.0, (1,): 2.0}, {(0, 0): float("nan")}, {(9999, 0): 1.0}, np.ones((2, 2))):
            with self.assertRaises((TypeError, ValueError)):
                stencil.plan(wrong, u)
        with self.assertRaises(ValueError):
            stencil.plan({(0, 0): 1.0}, u, border="open")
        with self.assertRaises(ValueError):
            stencil.heat(1.0, 10.0, (1.0, 1.0))
        with self.assertRaises((ValueError, RuntimeError)):
            stencil.plan({(0, 0): 1.0}, u, device="nowhere:3")
        with self.assertRaises(TypeError):
            plan.run(u, -1)

    def test_threads_at_once(self):
        u = random.random((200, 300))
        plan = stencil.plan({(0, 0): 0.5, (0, 1): 0.5}, u, border="periodic", workers=1)
        want, wrong = plan(u, 20), []

        def work():
            wrong.extend(i for i in range(5) if not np.array_equal(plan(u, 20), want))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_arrays_are_stepped_in_place(self):
        update = ridge.stencil.heat(1.0, 0.2, (1.0, 1.0))
        big = np.full((30, 40, 3), 7, np.float32)
        u = random.random((12, 16)).astype(np.float32)
        expected = ridge.stencil.run(update, u, 5, border="periodic")
        plan = ridge.stencil.plan(update, u, border="periodic")
        for view in (big[2:14, 3:19, 1], big[13:1:-1, 38:6:-2, 0], big[:16, :12, 2].T, np.asfortranarray(u)):
            big[...] = 7
            view[...] = u
            others = big.sum() - (view.sum() if np.shares_memory(view, big) else 0)
            self.assertIs(plan.run(view, 5), view)
            np.testing.assert_allclose(view, expected, atol=1e-5)
            self.assertAlmostEqual(big.sum() - (view.sum() if np.shares_memory(view, big) else 0), others, delta=0.1)
            session = plan.start(u[::1])
            session.run(5)
            view[...] = 0
            np.testing.assert_allclose(session.read(view), expected, atol=1e-5)
            view[...] = u
            self.assertIs(plan.run_until(view, 1e9)["converged"], True)
        pairs = np.zeros((12, 16, 2))  # interleaved fields
        pairs[6, 8] = 1
        waves = ridge.stencil.wave(1.0, 0.3, (1.0, 1.0))
        there = np.moveaxis(pairs, 2, 0)
        wanted = ridge.stencil.run(waves, np.ascontiguousarray(there), 4, border="mirror")
        ridge.stencil.plan(waves, there, border="mirror").run(there, 4)
        np.testing.assert_allclose(pairs[..., 0], wanted[0], atol=1e-12)
        one = np.lib.stride_tricks.as_strided(np.zeros(16, np.float32), (12, 16), (0, 4))  # all rows share memory
        with self.assertRaisesRegex(ValueError, "share an element"):
            plan.run(one, 1)
        np.testing.assert_allclose(plan.start(np.broadcast_to(u[:1], u.shape)).read(), np.broadcast_to(u[:1], u.shape))

    def test_waves_have_16_cells_at_half_of_the_largest_velocity(self):
        wave = stencil.Wave((20, 22), 1900, sources=[[3, 5]], receivers=[[4, 6]], steps=3, spacing=10)
        self.assertAlmostEqual(wave.frequency, 1900 / 2 / (16 * 10))


class FilterBanks(unittest.TestCase):
    def test_against_the_formula(self):
        channels, taps, hop = 12, 4, 12
        bank = filterbank.plan(channels, taps, stations=2, polarizations=1, samples="float32")
        h = bank.weights
        x = (random.standard_normal((20, 2, 12)) + 1j * random.standard_normal((20, 2, 12))).astype(np.complex64)
        got = bank.stream().push(x)
        self.assertEqual(got.shape, (20, 1, 2, channels))
        for station in range(2):
            s = np.concatenate([np.zeros(channels * taps), x[:, station].ravel()])
            for t in range(20):
                newest = channels * taps + (t + 1) * hop - 1
                window = s[newest - channels * taps + 1:newest + 1] * h[::-1]
                n = np.arange((t + 1) * hop - channels * taps, (t + 1) * hop)
                want = [np.sum(window * np.exp(-2j * np.pi * k * n / channels)) for k in range(channels)]
                np.testing.assert_allclose(got[t, 0, station], want, atol=2e-6)

    def test_power_correlation_and_back(self):
        bank = filterbank.plan(16, 4, stations=3, polarizations=2, samples="int8")
        x = random.integers(-100, 100, (64, 3, 16, 2, 2), np.int8)
        spectra = bank.stream().push(x)
        power = bank.power(times=8).push(x)
        want = (np.abs(spectra) ** 2).sum(1).reshape(8, 8, 3, 16).sum(1)
        np.testing.assert_allclose(power[:, :, 0], want, rtol=1e-4)
        visibilities = bank.correlator(times=64).push(spectra)
        np.testing.assert_allclose(visibilities[0, 1, :, 0, 1], (spectra[:, 0, 0] * spectra[:, 1, 1].conj()).sum(0), rtol=1e-3)
        over = filterbank.plan(16, 8, polarizations=1, samples="float32", oversampling=(8, 7))
        y = (random.standard_normal(14 * 200) + 0j).astype(np.complex64)
        back = over.synthesis()
        z = back.push(over.stream().push(y)).ravel()
        np.testing.assert_allclose(z[back.delay + 300:], y[300:z.size - back.delay], atol=2e-3)

    def test_states_and_wrong_input(self):
        bank = filterbank.plan(8, 4, polarizations=1, samples="float32")
        x = random.standard_normal(400).astype(np.complex64)
        whole, first, second = bank.stream().push(x), bank.stream(), bank.stream()
        a = first.push(x[:123])
        second.restore(first.save())
        np.testing.assert_array_equal(np.concatenate([a, second.push(x[123:])]), whole)
        with self.assertRaises((OSError, ValueError)):
            bank.stream().restore(b"rubbish")
        with self.assertRaises(TypeError):
            bank.stream().push(x.astype(np.complex128))
        with self.assertRaises(ValueError):
            bank.stream().push(x, np.empty((2, 1, 1, 8), np.complex64))
        with self.assertRaises(TypeError):
            bank.stream().push(x, np.empty((50, 1, 1, 8), np.complex128))
        with self.assertRaises(ValueError):
            bank.stream().push(memoryview(x.view(np.uint8))[::2])
        for wrong in ({"channels": 0}, {"samples": "int3"}, {"window": "barn door"}, {"polarizations": 3}, {"weights": [1.0]},
                      {"oversampling": (7, 8)}, {"order": "odd"}, {"taps": 0}):
            with self.assertRaises(ValueError, msg=str(wrong)):
                filterbank.plan(**{"channels": 8, "taps": 4, **wrong})
        with self.assertRaises(TypeError):
            filterbank.plan(channels="many")


class Searches(unittest.TestCase):
    def test_a_pulsar_that_slows_down(self):
        seconds = 1e-3 * np.arange(20000)
        period, slowing = 0.1, 5e-5
        turns = seconds / period - slowing / period**2 * seconds**2 / 2
        power = random.normal(size=(20000, 4)).astype(np.float32) + 5 * (turns % 1 < 0.05)[:, None].astype(np.float32)
        band = search.Band(first_mhz=1500, step_mhz=-1, interval=1e-3)
        peaks = [search.fold(power, band, period, pdot=pdot, bins=32)[0].max() for pdot in (slowing, 0, -slowing)]
        self.assertGreater(peaks[0], 2 * max(peaks[1:]))


class Radars(unittest.TestCase):
    def test_wrong_input(self):
        radar = sar.Radar()
        focus = radar.plan()
        with self.assertRaises(TypeError):
            focus(np.zeros((1024, 1024)))
        with self.assertRaises(ValueError):
            focus(np.zeros((1024, 1000), np.complex64))
        frozen = np.zeros((1024, 1024), np.complex64)
        frozen.flags.writeable = False
        with self.assertRaises(ValueError):
            focus(np.zeros((1024, 1024), np.complex64), out=frozen)
        with self.assertRaises(ValueError):
            sar.Radar(samples=100)
        self.assertLess(radar.expected()["range"]["side_lobe_db"], -40)


class Images(unittest.TestCase):
    def test_views_of_larger_images(self):
        whole = random.integers(0, 256, (60, 80, 3), np.uint8)
        part = whole[10:40, 20:60]
        np.testing.assert_array_equal(image.apply("gauss 1.5", part), image.apply("gauss 1.5", part.copy()))
        out = np.zeros((60, 80, 3), np.uint8)
        image.OperatorPlan("gauss 1.5", part.shape, part.dtype)(part, out=out[10:40, 20:60])
        np.testing.assert_array_equal(out[10:40, 20:60], image.apply("gauss 1.5", part))
        self.assertEqual(out[:10].sum() + out[40:].sum() + out[:, :20].sum() + out[:, 60:].sum(), 0)

    def test_variance(self):
        x = random.integers(0, 256, (30, 40), np.uint8)
        padded = np.pad(x.astype(float), 2, mode="reflect")
        windows = np.lib.stride_tricks.sliding_window_view(padded, (5, 5))
        np.testing.assert_allclose(image.variance(x, 5), windows.var(axis=(2, 3)), rtol=1e-6)

    def test_wrong_input(self):
        x = np.zeros((20, 30, 3), np.uint8)
        plan = image.OperatorPlan("box 3", x.shape, x.dtype)
        for wrong, error in ((x.astype(np.int64), TypeError), (x[:, ::2], ValueError), (x[::-1], ValueError),
                             (x.transpose(1, 0, 2), ValueError), (x[:, :, ::-1], ValueError), (x[:10], ValueError),
                             (x[..., 0], ValueError), (3, TypeError)):
            with self.assertRaises(error):
                plan(wrong)
        frozen = x.copy()
        frozen.flags.writeable = False
        with self.assertRaises(ValueError):
            plan(x, out=frozen)
        for chain in ("blur", "gauss", "box 0", "gauss -1", ""):
            with self.assertRaises(ValueError, msg=chain):
                image.apply(chain, x)
        with self.assertRaises(TypeError):
            image.flow(x, x, speed=3)
        with self.assertRaises(ValueError):
            image.flow(x, x[:10].copy())
        with self.assertRaises(OSError):
            image.read("/nonexistent.png")
        with self.assertRaises(ValueError):
            image.variance(x)


class Traces(unittest.TestCase):
    def test_a_trace_is_written_at_exit_after_other_files(self):
        program = "import numpy, ridge; ridge.image.write('x.png', numpy.zeros((4, 4, 3), numpy.uint8))"
        with tempfile.TemporaryDirectory() as folder:
            # MALLOC_PERTURB_: glibc overwrites freed memory
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RIDGE_TRACE": "trace.json", "MALLOC_PERTURB_": "165"}
            done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
                self.assertIn("traceEvents", json.load(file))


class DeviceArrays(unittest.TestCase):
    def test_dlpack_both_ways(self):
        for dtype in (np.float32, np.float64, np.complex64, np.complex128, np.uint8, np.uint16, np.uint32, np.int32,
                      np.float16):
            x = (random.random((3, 5)) * 100).astype(dtype)
            ours = ridge.from_dlpack(x)
            self.assertEqual((ours.shape, ours.dtype, ours.device), (x.shape, x.dtype, "host"))
            back = np.from_dlpack(ours)
            x[1, 2] = 42
            self.assertEqual(back[1, 2], 42)  # the same memory after a round trip
            del ours
            gc.collect()
            np.testing.assert_array_equal(back, x)
        for wrong, error in ((np.zeros((4, 4))[:, ::2], ValueError), (np.zeros(3, np.int64), TypeError),
                             ([1, 2], TypeError)):
            with self.assertRaises(error):
                ridge.from_dlpack(wrong)
        capsule = np.zeros(3).__dlpack__()
        ridge._ridge.DeviceArray.from_dlpack(capsule)
        with self.assertRaises(ValueError):
            ridge._ridge.DeviceArray.from_dlpack(capsule)  # the capsule was already consumed
        self.assertEqual(ridge.from_dlpack(np.zeros((0, 3))).numpy().shape, (0, 3))
        # Arguments that newer consumers of the array API pass.
        ours = ridge.array(np.zeros(3))
        for asked in ({"max_version": (1, 0)}, {"dl_device": (1, 0), "copy": False}):
            ridge._ridge.DeviceArray.from_dlpack(ours.__dlpack__(**asked))
        copied = ridge._ridge.DeviceArray.from_dlpack(ours.__dlpack__(copy=True))
        self.assertNotEqual(copied.address(), ours._held.address())
        with self.assertRaises(BufferError):
            ours.__dlpack__(dl_device=(2, 0))

    def test_another_librarys_capsule(self):
        """The memory is used without a copy, on the host and on CUDA, and the deleter is called once, at the end."""
        places = [HostMemory]
        if any(d["backend"] == "cuda" for d in ridge.devices()):
            places.append(CudaMemory)
        x = random.standard_normal((3, 64)) + 1j * random.standard_normal((3, 64))
        x = x.astype(np.complex64)
        u = random.random((3, 64)).astype(np.float32)
        for place in places:
            deleted = []
            memory = place(x.nbytes)
            memory.put(x)
            theirs = ridge.from_dlpack(Producer(memory, x.shape, 5, 64, deleted))
            self.assertEqual((theirs.shape, theirs.dtype), (x.shape, x.dtype))
            got = ridge.fft.fft(theirs)
            np.testing.assert_allclose(got.numpy(), np.fft.fft(x), atol=1e-4)
            self.assertEqual(deleted, [])
            del theirs
            gc.collect()
            self.assertEqual(deleted, [1])
            memory.put(u)
            cells = Producer(memory, u.shape, 2, 32, deleted)
            plan = ridge.stencil.plan({(0, 0): 0.5, (0, 1): 0.5}, u, border="periodic", device=place.device)
            plan.run(cells, 2)
            np.testing.assert_allclose(memory.get(np.empty_like(u)), ridge.stencil.run(plan.update, u, 2, border="periodic"),
                                       atol=1e-6)

    def test_cuda_array_interface(self):
        class Fake:
            __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3, "strides": None,
                                        "stream": None}
        if not any(d["backend"] == "cuda" for d in ridge.devices()):
            with self.assertRaisesRegex((ValueError, RuntimeError), "cuda"):
                ridge.asarray(Fake())
        strided = Fake()
        strided.__cuda_array_interface__ = dict(Fake.__cuda_array_interface__, strides=(8,))
        with self.assertRaisesRegex(ValueError, "contiguous"):
            ridge.asarray(strided)
        with self.assertRaises(AttributeError):
            ridge.empty(3, np.float32).__cuda_array_interface__
        self.assertFalse(hasattr(ridge.empty(3, np.float32), "__cuda_array_interface__"))

    def test_host_arrays_are_transformed(self):
        x = random.standard_normal((3, 20)).astype(np.complex64)
        for name in ("fft", "ifft", "fftn", "hfft", "dct", "idstn"):
            got = getattr(ridge.fft, name)(ridge.array(x))
            self.assertIsInstance(got, ridge.Array)
            np.testing.assert_allclose(got.numpy(), getattr(ridge.fft, name)(x), atol=1e-5)

    def test_every_transform_on_another_device(self):
        device = next((d["id"] for d in ridge.devices() if d["backend"] != "host"), None)
        if device is None:
            self.skipTest("no device beside the host")
        device_transforms.every_function(self, device, 6)
        device_transforms.cosines_and_sines(self, device, 6, [("dct", 1), ("dct", 2), ("idct", 2), ("dst", 3)])
        device_transforms.same(self, device, "dctn", device_transforms.numbers((2, 8), "c"), s=(6,), axes=(1,))
        device_transforms.mistakes(self, device)

    def test_a_stencil_on_another_device_steps_in_place(self):
        device = next((d["id"] for d in ridge.devices() if d["backend"] != "host"), None)
        if device is None:
            self.skipTest("no device beside the host")
        u = random.random((12, 20)).astype(np.float32)
        k = random.random((12, 20)).astype(np.float32)

        def conduct(u, *, k):
            return u[0, 0] + 0.1 * k[0, 0] * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])
        expected = ridge.stencil.plan(conduct, u, border="mirror")(u, 3, k)
        plan = ridge.stencil.plan(conduct, u, border="mirror", device=device)
        there = ridge.array(u, device)
        self.assertIs(plan.run(there, 3, ridge.array(k, device)), there)
        np.testing.assert_allclose(there.numpy(), expected, atol=1e-6)
        for grid, coefficients in ((there, None), (ridge.array(u.astype(np.float64), device), ridge.array(k, device)),
                                   (ridge.array(u[:5], device), ridge.array(k, device)), (there, ridge.array(k))):
            with self.assertRaises((ValueError, TypeError)):
                plan.run(grid, 1, coefficients)
        with self.assertRaisesRegex(ValueError, "is on"):
            ridge.stencil.plan(conduct, u).run(there, 1, ridge.array(k, device))

    def test_another_device(self):
        device = next((d["id"] for d in ridge.devices() if d["backend"] != "host"), None)
        if device is None:
            self.skipTest("no device beside the host")
        x = (random.standard_normal((4, 64)) + 1j * random.standard_normal((4, 64))).astype(np.complex64)
        there = ridge.array(x, device)
        self.assertEqual(there.device, device)
        np.testing.assert_array_equal(there.numpy(), x)
        np.testing.assert_allclose(ridge.fft.fft(there, norm="ortho").numpy(), np.fft.fft(x, norm="ortho"), atol=1e-5)
        np.testing.assert_allclose(ridge.fft.ifft(ridge.fft.fft(there)).numpy(), x, atol=1e-5)
        r = ridge.array(x.real.copy(), device)
        np.testing.assert_allclose(ridge.fft.irfft(ridge.fft.rfft(r)).numpy(), x.real, atol=1e-5)
        with self.assertRaises(TypeError):
            np.asarray(there)
        plan = ridge._ridge.DevicePlan(device, True, [64], 4, False, 1.0, 1.0, False)
        with self.assertRaisesRegex(ValueError, "is on host"):
            plan.run(ridge.array(x)._held, there._held, False)
        with self.assertRaises(ValueError):
            plan.run(ridge.empty((3, 64), np.complex64, device)._held, there._held, False)
        with self.assertRaises((ValueError, TypeError)):
            there.set(x[:2])
        with self.assertRaises(MemoryError):
            ridge.empty((1 << 20, 1 << 20), np.float32, device)
        with self.assertRaises(ValueError):
            ridge.empty((1 << 40, 1 << 40), np.float32, device)


if __name__ == "__main__":
    unittest.main()
