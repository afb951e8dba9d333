"""Proves on a CUDA machine that transforms of other libraries' arrays copy nothing to the host, wait for nothing and have right gradients.

    PYTHONPATH=build/python python3 bench/frameworks_gpu.py            PyTorch, CuPy and JAX, whichever is installed
    PYTHONPATH=build/python python3 bench/frameworks_gpu.py torch      one of them

Prints one line per check and ends with status 1 if one fails. Also run: ridge check adjoint --device cuda:0 --seconds 60.
"""
import sys
import time
import traceback

import numpy as np

import ridge

FAILED = []


def check(name):
    def decorate(function):
        try:
            note = function()
            print(f"ok      {name}{': ' + str(note) if note else ''}", flush=True)
        except Exception as error:  # noqa: BLE001: every failure is reported
            FAILED.append(name)
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc()
        return function
    return decorate


def check_torch():
    import torch
    import ridge.torch as ours
    cuda = torch.device("cuda:0")
    torch.manual_seed(1)

    def tensor(*shape, dtype=torch.complex64, **how):
        return torch.randn(*shape, dtype=dtype, device=cuda, **how)

    cases = (("fft", torch.complex64, (1, 1024)), ("ifft", torch.complex64, (64, 1009)), ("rfft", torch.float32, (64, 4096)),
             ("irfft", torch.complex64, (64, 2049)), ("fft2", torch.complex64, (4, 60, 100)), ("rfft2", torch.float32, (4, 128, 96)),
             ("irfft2", torch.complex128, (4, 64, 33)), ("fftn", torch.complex128, (8, 16, 30)), ("rfftn", torch.float64, (8, 16, 30)),
             ("hfft", torch.complex64, (3, 65)), ("ihfft", torch.float32, (3, 64)))

    @check("torch: values and gradients equal torch.fft's")
    def values():
        for name, dtype, shape in cases:
            x = tensor(*shape, dtype=dtype)
            if name in ("irfft", "irfft2", "hfft"):  # cuFFT does not ignore imaginary parts that no real signal has
                x = getattr(torch.fft, "rfft2" if name == "irfft2" else "rfft")(getattr(torch.fft, name)(x))
            x.requires_grad_()
            y, want = getattr(ridge.fft, name)(x), getattr(torch.fft, name)(x)
            assert y.device == x.device and y.dtype == want.dtype and isinstance(y, torch.Tensor)
            tolerance = 2e-5 if dtype in (torch.complex64, torch.float32) else 1e-11
            g = torch.randn_like(want)
            for a, b in ((y, want), (torch.autograd.grad(y, x, g)[0], torch.autograd.grad(want, x, g)[0])):
                worst = ((a - b).abs().max() / b.abs().max()).item()
                assert worst < tolerance, (name, worst)
        return f"{len(cases)} transforms"

    @check("torch: second calls of a layout, found by the exchange table, on any stream")
    def found():
        from ridge.torch import _transforms
        if _transforms.table is None:
            return "this PyTorch has no exchange table"
        z, r = tensor(5, 6, 64), tensor(5, 6, 64, dtype=torch.float32)
        calls = ((ours.fft, torch.fft.fft, z), (ours.ifft2, torch.fft.ifft2, z), (ours.rfft, torch.fft.rfft, r), (ours.irfft, torch.fft.irfft,
                 torch.fft.rfft(r)), (ours.fft, torch.fft.fft, z.transpose(1, 2)), (ours.fft, torch.fft.fft, z.conj()))
        before = len(_transforms.table)
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                for f, g, x in calls * 3:
                    y, want = f(2 * x), g(2 * x)
                    assert y.shape == want.shape and y.dtype == want.dtype and y.is_contiguous() and not y.requires_grad
                    assert (y - want).abs().max() < 2e-5 * want.abs().max()
                    del y  # its memory is used again
            torch.cuda.synchronize()
        many = tensor(3, 6, 64)
        torch.testing.assert_close(torch.func.vmap(ours.fft)(many), ours.fft(many))
        return f"{len(_transforms.table) - before} calls remembered"

    @check("torch: slices that begin at any element")
    def slices():
        for f, g, x in ((ours.fft, torch.fft.fft, tensor(16385)[1:]), (ours.rfft, torch.fft.rfft, tensor(1025, dtype=torch.float32)[1:]),
                        (ours.fft, torch.fft.fft, tensor(4097)[1:].reshape(4, 1024)), (ours.fft, torch.fft.fft, tensor(241)[1:].reshape(20, 12)),
                        (ours.rfft2, torch.fft.rfft2, tensor(4097, dtype=torch.float64)[1:].reshape(64, 64))):
            for _ in range(3):  # prepared by Python, then found by the exchange table
                y, want = f(x), g(x)
                assert (y - want).abs().max() < 2e-5 * want.abs().max(), (f, x.shape)

    @check("torch: gradcheck, second order and forward mode in double")
    def gradients():
        for f, x in ((ours.fft, tensor(2, 7, dtype=torch.complex128)), (ours.rfft, tensor(2, 8, dtype=torch.float64)),
                     (ours.irfft, tensor(2, 5, dtype=torch.complex128)), (ours.rfft2, tensor(3, 6, dtype=torch.float64)),
                     (ours.irfft2, tensor(3, 4, dtype=torch.complex128)), (ours.dct, tensor(2, 6, dtype=torch.float64))):
            x.requires_grad_(True)
            assert torch.autograd.gradcheck(f, (x,), check_forward_ad=f is not ours.dct, nondet_tol=1e-12)
            assert torch.autograd.gradgradcheck(f, (x,), nondet_tol=1e-12)

    @check("torch: no copies and no waits in the trace of PyTorch's profiler")
    def copies():
        from torch.profiler import ProfilerActivity, profile
        z, r = tensor(64, 4096), tensor(64, 4096, dtype=torch.float32)
        h = torch.fft.rfft(r)
        ours.fft(z), ours.rfft(r), ours.irfft(h)  # plans
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
            for _ in range(3):
                ours.fft(z), ours.rfft(r), ours.irfft(h)
        names = [event.key for event in trace.key_averages()]
        bad = [n for n in names if "Memcpy" in n or ("ynchronize" in n and "Device" not in n)]
        kernels = [n for n in names if "ridge" in n.lower() or "fft" in n.lower() or "pass" in n.lower()]
        assert not bad, bad
        return f"kernels {sorted(set(kernels))[:4]}"

    @check("torch: a call returns before work ahead of it on the stream has ended, and its result is ordered after it")
    def ordering():
        stream = torch.cuda.Stream()
        x = tensor(16, 4096)
        with torch.cuda.stream(stream):
            ours.fft(x)
            torch.cuda.synchronize()
            torch.cuda._sleep(2_000_000_000)  # about a second
            filled = torch.full_like(x, 2)
            start = time.perf_counter()
            y = ours.fft(filled)
            seconds = time.perf_counter() - start
            busy = not stream.query()
        torch.cuda.synchronize()
        assert busy, "the stream was idle: the call waited"
        assert abs(y[3, 0].item() - 8192) < 1e-2 and y[3, 1:].abs().max().item() < 1e-2
        return f"returned after {seconds * 1e6:.0f} us"

    @check("torch: a captured graph gives new results; a layout without a plan is refused during a capture")
    def captured():
        x, other = tensor(64, 1024), tensor(33, 300)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            ours.fft(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            y = ours.fft(x)
        for _ in range(2):
            x.copy_(tensor(64, 1024))
            graph.replay()
            torch.cuda.synchronize()
            torch.testing.assert_close(y, torch.fft.fft(x), rtol=1e-4, atol=1e-3)
        try:
            with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream):
                ours.fft(other)
        except RuntimeError as error:
            assert "while the stream is captured" in str(error), error
        else:
            raise AssertionError("planned during a capture")
        torch.testing.assert_close(ours.fft(other), torch.fft.fft(other), rtol=1e-4, atol=1e-3)

    @check("torch: the result is memory of PyTorch's allocator")
    def allocator():
        x = tensor(256, 4096)
        ours.fft(x)
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        y = ours.fft(x)
        assert torch.cuda.memory_allocated() - before == y.numel() * y.element_size()

    @check("torch: compile(fullgraph=True), vmap, jvp")
    def compiled():
        for f, dtype in ((ours.fft, torch.complex64), (ours.rfft, torch.float32)):
            x = tensor(3, 8, dtype=dtype, requires_grad=True)
            g = torch.compile(f, backend="aot_eager", fullgraph=True)
            torch.testing.assert_close(g(x), f(x))
            a, b = (torch.autograd.grad(h(x).abs().square().sum(), x)[0] for h in (g, f))
            torch.testing.assert_close(a, b)
            many = tensor(5, 3, 8, dtype=dtype)
            torch.testing.assert_close(torch.func.vmap(f)(many), f(many))
            torch.func.jvp(f, (many,), (many,))

    @check("torch: 100 transforms of 4096 points beside torch.fft (cuFFT)")
    def speed():
        x = tensor(1024, 4096)

        def seconds(f):
            f(x)
            torch.cuda.synchronize()
            best = 1e9
            for _ in range(5):
                start = time.perf_counter()
                for _ in range(100):
                    f(x)
                torch.cuda.synchronize()
                best = min(best, time.perf_counter() - start)
            return best / 100
        ours_s, theirs = seconds(ours.fft), seconds(torch.fft.fft)
        return f"{ours_s * 1e6:.1f} us, torch.fft {theirs * 1e6:.1f} us"

    @check("torch: 16-bit storage beside torch.fft of complex64")
    def sixteen_bits():
        notes = []
        for n in (1 << 10, 1 << 11, 1 << 12, 1 << 13):
            batch = (1 << 26) // n
            plan = ridge.fft.plan_float16(n, batch, device="cuda:0", measured=True)
            x = torch.randn(batch, n, 2, device=cuda).half()
            z = torch.view_as_complex(x.float())
            error = ((torch.view_as_complex(plan(x).float()) - torch.fft.fft(z)).abs().max() / torch.fft.fft(z).abs().max()).item()
            assert error < 3e-3, error
            times = []
            for f, a in ((plan, x), (torch.fft.fft, z)):
                f(a)
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(20):
                    f(a)
                torch.cuda.synchronize()
                times.append((time.perf_counter() - start) / 20)
            notes.append(f"{n}: {times[1] / times[0]:.2f}x")
        return ", ".join(notes)


def check_cupy():
    import cupy

    @check("cupy: values, type, device")
    def values():
        for name, x in (("fft", cupy.random.standard_normal((8, 1000)) + 1j), ("rfft", cupy.random.standard_normal((8, 1000))),
                        ("irfft", cupy.random.standard_normal((8, 501)) + 0j), ("fft2", cupy.random.standard_normal((3, 20, 30)) + 1j)):
            y, want = getattr(ridge.fft, name)(x), getattr(cupy.fft, name)(x)
            assert isinstance(y, cupy.ndarray) and y.dtype == want.dtype
            assert float(abs(y - want).max() / abs(want).max()) < 1e-11, name
        strided = (cupy.random.standard_normal((20, 30)) + 1j).T[::2]
        assert float(abs(ridge.fft.fft(strided, axis=0) - cupy.fft.fft(strided, axis=0)).max()) < 1e-9

    @check("cupy: a call on a side stream returns while the stream is busy")
    def ordering():
        x = cupy.ones((16, 4096), cupy.complex64)
        stream = cupy.cuda.Stream(non_blocking=True)
        busy = cupy.RawKernel('extern "C" __global__ void busy() { long long t = clock64(); while (clock64() - t < 1000000000LL); }', "busy")
        with stream:
            busy((1,), (1,), ())  # compiles both kernels
            ridge.fft.fft(x * 3)
            stream.synchronize()
            busy((1,), (1,), ())
            y = ridge.fft.fft(x * 3)
            assert not stream.done, "the stream was idle: the call waited"
        stream.synchronize()
        assert abs(complex(y[2, 0]) - 3 * 4096) < 1e-1

    @check("cupy: a captured graph gives new results")
    def captured():
        x, stream = cupy.ones((64, 1024), cupy.complex64), cupy.cuda.Stream(non_blocking=True)
        with stream:
            y = ridge.fft.fft(x)
            stream.synchronize()
            stream.begin_capture()
            y = ridge.fft.fft(x)
            graph = stream.end_capture()
            for k in (2, 3):
                x[...] = k
                graph.launch(stream)
                stream.synchronize()
                assert abs(complex(y[5, 0]) - k * 1024) < 1e-1 and float(abs(y[:, 1:]).max()) < 1e-2


def check_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    import ridge.jax as ours

    @check("jax: values, jit, grad, vmap, hessian on " + jax.devices()[0].platform)
    def values():
        key = jax.random.PRNGKey(0)
        for f, g, complex_ in ((ours.fft, jnp.fft.fft, True), (ours.rfft, jnp.fft.rfft, False), (ours.irfft, jnp.fft.irfft, True),
                               (ours.rfft2, jnp.fft.rfft2, False), (ours.fft2, jnp.fft.fft2, True)):
            x = jax.random.normal(key, (4, 6, 16))
            x = x + 1j * jax.random.normal(key, x.shape) if complex_ else x
            power = lambda h: lambda x: (abs(h(x)) ** 2).sum()  # noqa: E731
            for a, b in ((f(x), g(x)), (jax.jit(f)(x), g(x)), (jax.jit(jax.grad(power(f)))(x), jax.grad(power(g))(x)),
                         (jax.vmap(jax.grad(power(f)))(x[None]), jax.vmap(jax.grad(power(g)))(x[None]))):
                assert float(abs(a - b).max() / abs(b).max()) < 1e-11
        x = jax.random.normal(key, (6,))
        a, b = (jax.hessian(lambda x, h=h: (abs(h(x)) ** 4).sum())(x) for h in (ours.rfft, jnp.fft.rfft))
        assert float(abs(a - b).max() / abs(b).max()) < 1e-10
        assert isinstance(ridge.fft.fft(x), jax.Array)


def main():
    for name, function in (("torch", check_torch), ("cupy", check_cupy), ("jax", check_jax)):
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            function()
        except ImportError as missing:
            print(f"skipped {name}: {missing}")
    print(f"{len(FAILED)} failed" if FAILED else "all checks passed")
    return bool(FAILED)


if __name__ == "__main__":
    np.random.seed(0)
    sys.exit(main())
