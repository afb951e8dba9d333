"""Gradients of ridge.torch: first and second order, forward mode, equality with torch.fft. Skipped without PyTorch."""
import itertools
import sys
import unittest
import unittest.mock
import warnings

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-torch)")
    sys.exit(77)

import exchange_table
import ridge
import ridge.torch as ours
from ridge import _torch_nufft

torch.manual_seed(0)
NORMS = (None, "ortho", "forward")
# (name, shape of the input, lengths, axes): even, odd, cut, padded, several axes.
SHAPES = [((1, 8), None, -1), ((2, 7), None, -1), ((8, 2), 5, 0), ((7, 2), 10, 0)]
MANY = [((3, 4, 5), None, (-2, -1)), ((3, 4, 5), (4, 6), (0, 2)), ((4, 3), None, None)]


def tensor(shape, complex_):
    return torch.randn(shape, dtype=torch.complex128 if complex_ else torch.float64, requires_grad=True)


def gradients(f, x):
    """True if the first and second derivatives and the forward mode agree with differences."""
    return (torch.autograd.gradcheck(f, (x,), check_forward_ad=True, check_batched_grad=False)
            and torch.autograd.gradgradcheck(f, (x,)))


class WithoutGradients(unittest.TestCase):
    """Plain tensors take a short path, whose plans are kept by the tensor's layout."""

    def test_every_layout_and_argument(self):
        base = torch.randn(4, 6, 8, dtype=torch.complex128)
        layouts = {"packed": base, "permuted": base.permute(2, 0, 1), "strided": base[:, ::2], "shifted": base[1:, 1:, 1:],
                   "conjugated": base.conj(), "leaf": base.clone().requires_grad_()}
        for name in (n for n in ours.__all__ if "fft" in n and "nufft" not in n):
            one = not name.endswith(("n", "2"))
            calls = [{}, {"norm": "ortho"}, {"n": 5}, {"n": 11, "dim": 0}, {"dim": 1}] if one else [
                {}, {"norm": "forward"}, {"s": (3, 9), "dim": (0, 2)}, {"dim": [1, 0]}]
            real = name.startswith(("rfft", "ihfft"))
            with self.assertRaises(ValueError):
                getattr(ours, name)(base.real[:, :, :0] if real else base[:, :, :0])
            for layout, x in layouts.items():
                x = x.real if real else x
                for how in calls:
                    for _ in range(2):  # planned, then found
                        with torch.no_grad():
                            got = getattr(ours, name)(x, **how)
                            want = getattr(torch.fft, name)(x, **how)
                        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), (name, layout, how))
                        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
                        self.assertFalse(got.requires_grad)

    def test_threads_share_plans(self):
        import threading
        x = [torch.randn(64 + i % 3, dtype=torch.complex64) for i in range(24)]
        out = [None] * len(x)

        def work(begin):
            for i in range(begin, len(x), 4):
                out[i] = ours.fft(x[i])
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for given, got in zip(x, out):
            torch.testing.assert_close(got, torch.fft.fft(given), rtol=1e-4, atol=1e-4)


class WithExchangeTable(WithoutGradients):
    """The same calls where tensors have DLPack's C exchange table: found without Python."""

    def setUp(self):
        capsule, self.described = exchange_table.capsule()
        held = ours._transforms.table, ours._transforms.by_table
        made = ours._Transforms(capsule)
        ours._transforms.table, ours._transforms.by_table = made.table, made.by_table
        self.addCleanup(lambda: setattr(ours._transforms, "table", held[0]) or setattr(ours._transforms, "by_table", held[1]))
        self.addCleanup(ours._transforms.calls.clear)
        ours._transforms.calls.clear()

    def refuse_python(self):
        """From here on the path in Python fails."""
        held = ours._direct
        self.addCleanup(setattr, ours, "_direct", held)
        ours._direct = lambda x: self.fail("the call was not found by the table")

    def test_second_calls_are_found(self):
        z, r = torch.randn(3, 5, 8, dtype=torch.complex64), torch.randn(3, 5, 8, dtype=torch.float64)
        calls = [lambda: ours.fft(z), lambda: ours.ifft(z, dim=1, norm="ortho"), lambda: ours.fft2(z.transpose(0, 2)), lambda: ours.rfft(r),
                 lambda: ours.irfft(z, 14), lambda: ours.dct(r), lambda: ours.idstn(r, norm="ortho"), lambda: ours.fftn(z, dim=(0, 2)),
                 lambda: ours.fft(torch.nn.Parameter(z, requires_grad=False))]
        want = [f() for f in calls]
        self.assertEqual(len(ours._transforms.table), len(calls) - 1)  # a parameter is no other layout
        self.refuse_python()
        for f, y in zip(calls, want):
            got = f()
            self.assertTrue(torch.equal(got, y) and got.dtype == y.dtype)

    def test_second_calls_with_gradients_are_found(self):
        z = torch.randn(3, 8, dtype=torch.complex128, requires_grad=True)
        r = torch.nn.Parameter(torch.randn(3, 8, dtype=torch.float64))
        calls = [(ours.fft, torch.fft.fft, z), (ours.rfft2, torch.fft.rfft2, r),
                 (lambda x: ours.ifft(x, dim=0), lambda x: torch.fft.ifft(x, dim=0), z)]
        for f, _, x in calls:
            f(x)
        self.assertEqual(len(ours._transforms.table), len(calls))
        with unittest.mock.patch.object(ours, "_direct", lambda x: self.fail("the call was not found by the table")):
            found = [f(x) for f, _, x in calls]
            with torch.no_grad():
                self.assertFalse(ours.fft(z).requires_grad)
            self.assertFalse(ours.fft(z.detach()).requires_grad)
        for y, (_, theirs, x) in zip(found, calls):
            want = theirs(x)
            torch.testing.assert_close(y, want)
            g = torch.randn_like(want)
            torch.testing.assert_close(torch.autograd.grad(y, x, g), torch.autograd.grad(want, x, g))
        self.assertTrue(torch.autograd.gradcheck(ours.fft, z) and torch.autograd.gradgradcheck(ours.fft, z))
        torch.testing.assert_close(ours.fft(ours.fft(z)).real.sum(), torch.fft.fft(torch.fft.fft(z)).real.sum())

    def test_others_are_left_to_python(self):
        """Nothing is found for other layouts, lazy conjugates and negatives, forward mode, other types."""
        z = torch.randn(4, 8, dtype=torch.complex128)
        for x in (z, z.real.contiguous()):
            (ours.fft if x.is_complex() else ours.rfft)(x)
        self.assertEqual(len(ours._transforms.table), 2)
        grad = z.clone().requires_grad_()
        y = ours.fft(grad)
        self.assertTrue(y.requires_grad)
        with torch.no_grad():
            self.assertFalse(ours.fft(grad).requires_grad)
        torch.testing.assert_close(ours.fft(z.conj()), torch.fft.fft(z.conj()))
        negative = z.conj().imag
        self.assertTrue(negative.is_neg())
        torch.testing.assert_close(ours.rfft(negative), torch.fft.rfft(negative))
        torch.testing.assert_close(ours.fft(z.T), torch.fft.fft(z.T))
        torch.testing.assert_close(ours.fft(z[1:]), torch.fft.fft(z[1:]))
        with torch.autograd.forward_ad.dual_level():
            dual = ours.fft(torch.autograd.forward_ad.make_dual(z, z * 2))
            torch.testing.assert_close(torch.autograd.forward_ad.unpack_dual(dual).tangent, torch.fft.fft(z * 2))
        with self.assertRaises(ValueError):
            ours.fft(z, 0)
        with self.assertRaises(TypeError):
            ours.fft(np.ones(4))
        with self.assertRaisesRegex(ValueError, "version"):
            ours._Transforms(exchange_table.capsule(major=2)[0])

    def test_more_layouts_than_are_kept(self):
        for n in range(1, 700):
            x = torch.randn(n, dtype=torch.complex64)
            torch.testing.assert_close(ours.fft(x), torch.fft.fft(x), rtol=1e-4, atol=1e-4)
        self.assertLessEqual(len(ours._transforms.table), 512)


class Waves(unittest.TestCase):
    def test_gradient_of_traces(self):
        wave = ridge.stencil.Wave((5, 6), 2000, sources=[[[1, 2.5]], [[3, 4]]], receivers=[[1, 4.25], [4, 1]], steps=25, spacing=10,
                                  dtype=np.float64, dt=2e-3, frequency=20, accuracy=2, layer=3, exact=True)
        velocity = (1600 + 200 * torch.rand(5, 6, dtype=torch.float64)).requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(wave, (velocity,), eps=1e-2, atol=1e-11, rtol=1e-5))


class Transforms(unittest.TestCase):
    def test_gradients_and_values(self):
        count = 0
        for name, norm in itertools.product(("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"), NORMS):
            for shape, n, dim in SHAPES:
                x = tensor(shape, name in ("fft", "ifft", "irfft", "hfft"))
                f = lambda x: getattr(ours, name)(x, n, dim, norm)  # noqa: E731
                if name in ("irfft", "hfft") and n is None and shape[dim] < 2:
                    continue
                y, want = f(x), getattr(torch.fft, name)(x, n, dim, norm)
                self.assertEqual((y.dtype, y.shape), (want.dtype, want.shape))
                torch.testing.assert_close(y, want, rtol=1e-12, atol=1e-12)
                g = torch.randn_like(want)
                torch.testing.assert_close(torch.autograd.grad(f(x), x, g)[0], torch.autograd.grad(want, x, g)[0], rtol=1e-11, atol=1e-11)
                if norm is None or shape[0] == 1:
                    self.assertTrue(gradients(f, x), (name, shape, n, norm))
                count += 1
        for name, norm in itertools.product(("fftn", "ifftn", "rfftn", "irfftn"), NORMS):
            for shape, s, dim in MANY:
                x = tensor(shape, name != "rfftn")
                f = lambda x: getattr(ours, name)(x, s, dim, norm)  # noqa: E731
                want = getattr(torch.fft, name)(x, s, dim, norm)
                torch.testing.assert_close(f(x), want, rtol=1e-12, atol=1e-12)
                g = torch.randn_like(want)
                torch.testing.assert_close(torch.autograd.grad(f(x), x, g)[0], torch.autograd.grad(want, x, g)[0], rtol=1e-11, atol=1e-11)
                count += 1
        self.assertTrue(gradients(lambda x: ours.rfftn(x), tensor((3, 4), False)))
        self.assertTrue(gradients(lambda x: ours.irfftn(x, (3, 5)), tensor((3, 3), True)))
        self.assertGreater(count, 90)

    def test_cosines(self):
        for name, type, norm in itertools.product(("dct", "idct", "dst", "idst"), (1, 2, 3, 4), NORMS):
            for n in (2, 5):
                x = tensor((2, n), False)
                f = lambda x: getattr(ours, name)(x, type, norm=norm)  # noqa: E731
                want = getattr(ridge.fft, name)(x.detach().numpy(), type, norm=norm)
                np.testing.assert_allclose(f(x).detach().numpy(), want, atol=1e-12)
                g = torch.randn_like(x)
                back, = torch.autograd.grad(f(x), x, g)
                self.assertLess(abs((f(x) * g).sum() - (x * back).sum()).item(), 1e-11)
                call = ours._prepared(name, x.detach(), 0, None, -1, norm, type, None)
                torch.testing.assert_close(call.adjoint_by_operator(g), back)
                torch.testing.assert_close(call.adjoint(g).adjoint_by_operator(x), f(x))
                if norm is None and n == 5:
                    self.assertTrue(gradients(f, x), (name, type))
        for norm, dim in ((None, None), ("ortho", (1,)), ("ortho", (2, 0))):
            f = lambda x: ours.dstn(x, 2, dim=dim, norm=norm)  # noqa: E731
            x = tensor((3, 2, 4), False)
            np.testing.assert_allclose(f(x).detach().numpy(), ridge.fft.dstn(x.detach().numpy(), axes=dim, norm=norm), atol=1e-12)
            self.assertTrue(gradients(f, x))
        strided = tensor((4, 6), False).detach().T[::2].requires_grad_()
        torch.testing.assert_close(ours.dct(strided, norm="ortho"), ours.dct(strided.contiguous(), norm="ortho"))
        self.assertTrue(gradients(lambda x: ours.dct(x, norm="ortho"), strided))  # gradients of packed layout
        self.assertTrue(gradients(ours.rfft, strided))

    def test_prepared_calls(self):
        """Cosine and Hermitian transforms take the short path too, with and without gradients."""
        seen, plain = [], ours._prepared
        ours._prepared = lambda name, *rest: seen.append((name, plain(name, *rest))) or seen[-1][1]
        try:
            for grad in (False, True):
                ours.dct(torch.ones(3, 41, dtype=torch.float64, requires_grad=grad), norm="ortho")
                ours.idstn(torch.ones(3, 43, requires_grad=grad))
                ours.hfft(torch.ones(3, 47, dtype=torch.complex64, requires_grad=grad))
                ours.ihfft2(torch.ones(3, 53, requires_grad=grad))
        finally:
            ours._prepared = plain
        self.assertEqual([name for name, _ in seen], ["dct", "idstn", "hfft", "ihfft2"])  # the second calls find the first ones
        self.assertTrue(all(call is not None for _, call in seen))

    def test_convolution(self):
        x, h = tensor((2, 6), False), tensor((3,), False)
        torch.testing.assert_close(ours.convolve(x, h)[1], torch.from_numpy(np.convolve(x[1].detach(), h.detach())))
        self.assertTrue(torch.autograd.gradcheck(ours.convolve, (x, h)))


class Kinds(unittest.TestCase):
    def test_a_tensor_in_a_tensor_out(self):
        x = torch.randn(4, 9, dtype=torch.float64)
        for name in ("fft", "rfft", "dct", "fftn", "ihfft", "rfft2"):
            y = getattr(ridge.fft, name)(x)
            self.assertIsInstance(y, torch.Tensor, name)
            np.testing.assert_allclose(y.numpy(), getattr(ridge.fft, name)(x.numpy()), atol=1e-12)
        torch.testing.assert_close(ridge.fft.fft(x, 5, axis=0, norm="ortho"), torch.fft.fft(x, 5, 0, "ortho"))
        z = torch.randn(6, dtype=torch.complex64)
        torch.testing.assert_close(ridge.fft.fft(z.conj()), torch.fft.fft(z.conj()))  # lazy conjugation
        torch.testing.assert_close(ours.irfft(z.imag.to(torch.complex64)), torch.fft.irfft(z.imag.to(torch.complex64)))
        self.assertEqual(ours.fft(torch.ones(4, dtype=torch.bfloat16)).dtype, torch.complex64)
        self.assertEqual(ours.fft(torch.ones(4, dtype=torch.int64)).dtype, torch.complex128)
        self.assertEqual(ours.fft(torch.ones(4, dtype=torch.bool)).real.tolist(), [4, 0, 0, 0])
        torch.testing.assert_close(ours.fft(x.T[::2]), torch.fft.fft(x.T[::2]))  # any strides
        self.assertEqual(ours.fft(torch.empty(0, 4)).shape, (0, 4))
        self.assertTrue(ridge.fft.rfft(torch.ones(8, requires_grad=True)).requires_grad)

    def test_scipy_back_end(self):
        try:
            import scipy.fft
        except ImportError as missing:
            self.skipTest(str(missing))
        with scipy.fft.set_backend(ridge.fft):
            self.assertIsInstance(scipy.fft.fft(torch.ones(4)), torch.Tensor)

    def test_namespace(self):
        xp = ridge.array_api(torch)
        self.assertIsInstance(xp.fft.fft(torch.ones(4)), torch.Tensor)
        self.assertEqual(xp.fft.fftfreq(4, dtype=torch.float64).dtype, torch.float64)
        self.assertEqual(xp.fft.rfftfreq(4).tolist(), [0, 0.25, 0.5])

    def test_16_bit_storage(self):
        for storage, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
            plan = ridge.fft.plan_float16(12, 3, storage=storage)
            x = torch.randn(3, 12, 2).to(dtype)
            y = plan(x)
            self.assertEqual((y.dtype, y.shape), (dtype, (3, 12, 2)))
            want = torch.view_as_real(torch.fft.fft(torch.view_as_complex(x.float())))
            self.assertLess((y.float() - want).abs().max().item(), 0.1)
        self.assertRaises(TypeError, plan, torch.ones(3, 12, 2))
        self.assertRaises(ValueError, plan, torch.ones(3, 11, 2, dtype=torch.bfloat16))
        with self.assertRaisesRegex(ValueError, "no gradients"):
            plan(torch.ones(3, 12, 2, dtype=torch.bfloat16, requires_grad=True))

    def test_the_path_of_cuda_tensors(self):
        """The code for CUDA tensors, with addresses of the host: the plan then runs at once."""
        from ridge import _cuda

        class OnHost(ours._Backend):
            def device(self, x):
                return "host"

            def stream(self, x):
                return 0
        z, r = torch.randn(3, 4, 5, 6, dtype=torch.complex128), torch.randn(3, 4, 5, 6, dtype=torch.float64)
        for axes in ([-1], [1], [0, 2], [3, 1, 0], [0, 1, 2, 3]):
            for kind, x in ((0, z), (1, z), (2, r), (3, z)):
                length = x.shape[axes[-1]] if kind != 3 else 2 * x.shape[axes[-1]] - 1
                want = ours._compute(x, kind, axes, [], length, 0.5, False)
                got = _cuda.linear(OnHost(), x, kind, axes, length, 0.5, False)
                torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)
                back = _cuda.linear(OnHost(), want, kind, axes, length, 0.5, True)
                torch.testing.assert_close(back, ours._compute(want, kind, axes, [], length, 0.5, True), rtol=1e-12, atol=1e-12)
        for inverse, adjoint in ((False, False), (True, False), (False, True), (True, True)):  # planned for one direction alone
            plan = _cuda._plan("host", 0, False, (6,), 1, False, inverse, 0.5, adjoint)
            x, y = torch.randn(6, dtype=torch.complex128), torch.zeros(6, dtype=torch.complex128)
            plan.enqueue(x.data_ptr(), y.data_ptr(), inverse, 0)
            torch.testing.assert_close(y, 0.5 * (torch.fft.ifft(x, norm="forward") if inverse else torch.fft.fft(x)))
            with unittest.mock.patch.object(_cuda, "_ridge") as made:
                _cuda._plan.__wrapped__("host", 0, False, (6,), 1, False, inverse, 0.5, adjoint)
            self.assertFalse(made.DevicePlan.call_args.kwargs["both"])

    def test_wrong_calls(self):
        for wrong, kind in ((lambda: ours.rfft(torch.ones(4, dtype=torch.complex64)), TypeError), (lambda: ours.fft(np.ones(4)), TypeError),
                            (lambda: ours.fft(torch.ones(4), n=0), ValueError), (lambda: ours.fft(torch.ones(4), dim=3), ValueError),
                            (lambda: ours.dct(torch.ones(4), type=7), ValueError), (lambda: ours.fft(torch.ones(4), norm="no"), ValueError)):
            self.assertRaises(kind, wrong)


@unittest.skipUnless(hasattr(torch.library, "custom_op"), "torch.compile and torch.func need PyTorch 2.4")
class Compiled(unittest.TestCase):
    CASES = ((ours.fft, torch.complex128), (ours.rfft, torch.float64), (ours.irfft, torch.complex128), (ours.dct, torch.float64))

    def test_compile_without_graph_breaks(self):
        for f, dtype in self.CASES:
            torch._dynamo.reset()
            x = torch.randn(3, 8, dtype=dtype, requires_grad=True)
            g = torch.compile(f, backend="aot_eager", fullgraph=True)
            torch.testing.assert_close(g(x), f(x))
            a, b = (torch.autograd.grad(h(x).abs().square().sum(), x)[0] for h in (g, f))
            torch.testing.assert_close(a, b)

    def test_functional(self):
        for f, dtype in self.CASES:
            x = torch.randn(5, 3, 8, dtype=dtype)
            torch.testing.assert_close(torch.func.vmap(f)(x), f(x))
            loss = lambda x: f(x).abs().square().sum()  # noqa: E731
            torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(x), torch.stack([torch.func.grad(loss)(m) for m in x]))
            torch.func.jvp(f, (x,), (x,))


def nonuniform(axes, kind, sets=()):
    """Inputs of nufft{axes}d{kind} that require gradients, and the function of them."""
    modes, points, targets = (7, 6, 5)[:axes], 9, 8
    x = [(6 * torch.rand(points, dtype=torch.float64) - 3).requires_grad_() for _ in range(axes)]
    s = [(9 * torch.rand(targets, dtype=torch.float64) - 4).requires_grad_() for _ in range(axes if kind == 3 else 0)]
    data = torch.randn(*sets, *(modes if kind == 2 else (points,)), dtype=torch.complex128, requires_grad=True)
    function = getattr(ours, f"nufft{axes}d{kind}")

    def call(data, *at, sign=1, **how):
        if kind == 1:
            return function(*at, data, modes, eps=1e-13, isign=sign, **how)
        return function(*at[:axes], data, *at[axes:], eps=1e-13, isign=sign, **how)
    return call, (data, *x, *s)


def direct_sum(axes, kind, data, *at, sign=1):
    x, s = torch.stack(at[:axes]), at[axes:]
    if kind == 3:
        return torch.einsum("kj,...j->...k", torch.exp(1j * sign * torch.einsum("ak,aj->kj", torch.stack(s), x)), data)
    modes = (7, 6, 5)[:axes]
    k = torch.stack(torch.meshgrid(*(torch.arange(-(n // 2), (n + 1) // 2, dtype=x.dtype) for n in modes), indexing="ij")).reshape(axes, -1)
    a = torch.exp(1j * sign * torch.einsum("ak,aj->kj", k, x))
    if kind == 1:
        return torch.einsum("kj,...j->...k", a, data).reshape(*data.shape[:-1], *modes)
    return torch.einsum("kj,...k->...j", a, data.reshape(*data.shape[:data.ndim - axes], -1))


class Nonuniform(unittest.TestCase):
    def test_gradients_of_every_order_are_differences(self):
        for axes, kind in itertools.product((1, 2, 3), (1, 2, 3)):
            with self.subTest(axes=axes, kind=kind):
                call, inputs = nonuniform(axes, kind)
                torch.testing.assert_close(call(*inputs), direct_sum(axes, kind, *inputs), rtol=1e-11, atol=1e-11)
                # Fast: one random direction of all inputs, as each output is a transform.
                self.assertTrue(torch.autograd.gradcheck(call, inputs, check_forward_ad=True, check_batched_grad=False, fast_mode=True))
                if axes < 3:
                    self.assertTrue(torch.autograd.gradgradcheck(call, inputs, fast_mode=True))

    def test_gradients_equal_those_of_direct_sums(self):
        for axes, kind, sign in itertools.product((1, 2, 3), (1, 2, 3), (1, -1)):
            with self.subTest(axes=axes, kind=kind, sign=sign):
                call, inputs = nonuniform(axes, kind, sets=(2, 3))
                got, want = call(*inputs, sign=sign), direct_sum(axes, kind, *inputs, sign=sign)
                weights = torch.randn_like(want)
                pairs = [torch.autograd.grad((y - weights).abs().square().sum(), inputs) for y in (got, want)]
                for ours_, theirs in zip(*pairs):
                    torch.testing.assert_close(ours_, theirs, rtol=1e-9, atol=1e-9)

    def test_each_input_alone(self):
        call, inputs = nonuniform(2, 3)
        for i in range(len(inputs)):
            alone = [x.detach().requires_grad_(i == j) for j, x in enumerate(inputs)]
            (got,) = torch.autograd.grad(call(*alone).abs().square().sum(), alone[i])
            (want,) = torch.autograd.grad(direct_sum(2, 3, *alone).abs().square().sum(), alone[i])
            torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-9)

    def test_order_of_the_modes_and_types(self):
        x, c = torch.rand(9, dtype=torch.float64, requires_grad=True), torch.randn(9, dtype=torch.float64, requires_grad=True)
        ascending = ours.nufft1d1(x, c, 8, eps=1e-12)
        rotated = ours.nufft1d1(x, c, 8, eps=1e-12, modeord=1)
        torch.testing.assert_close(rotated, torch.fft.ifftshift(ascending))
        first = torch.autograd.grad(ascending.abs().pow(4).sum(), (x, c), create_graph=True)
        second = torch.autograd.grad(rotated.abs().pow(4).sum(), (x, c), create_graph=True)
        torch.testing.assert_close(first, second)
        self.assertEqual(first[1].dtype, torch.float64)
        self.assertTrue(torch.equal(ours.nufft1d1(x[:0], c[:0], 8), torch.zeros(8, dtype=torch.complex128)))
        self.assertEqual(ours.nufft1d2(x[:0], ascending.detach()).shape, (0,))
        single = ours.nufft1d1(x.float(), c.float(), 8)
        self.assertEqual(single.dtype, torch.complex64)

    def test_mistakes(self):
        x, c = torch.rand(9), torch.rand(9)
        with self.assertRaisesRegex(TypeError, "use ridge.nufft for other arrays"):
            ours.nufft1d1(x.numpy(), c, 8)
        with self.assertRaisesRegex(ValueError, "one strength per point, 9, got 8"):
            ours.nufft1d1(x, c[1:], 8)
        with self.assertRaisesRegex(ValueError, "real tensors of one axis and one length"):
            ours.nufft2d1(x, x[1:], c, 8)
        with self.assertRaisesRegex(TypeError, "the data must be float32, float64, complex64 or complex128"):
            ours.nufft1d1(x, c.to(torch.int32), 8)

    def test_settings_on_cuda(self):
        """Tensors on CUDA have the limits and the messages of those on the host."""
        class OnCuda(torch.Tensor):
            is_cuda = True
        x, c = torch.rand(1, 9), torch.rand(1, 9, dtype=torch.complex64).as_subclass(OnCuda)

        def planned(**options):
            how = _torch_nufft._How(1, (8,), 1, {"eps": 1e-5, "modeord": 0, "upsampfac": 0.0, "nthreads": 0, **options})
            with unittest.mock.patch.object(_torch_nufft, "_OnCuda") as made:
                _torch_nufft._planned(c, x, None, how)
            return made.call_args.args
        self.assertEqual(planned(eps=0.5)[4], 0.1)
        self.assertEqual(planned(upsampfac=1.9)[7], 2.0)
        for factor in (0.5, -2.0, float("nan")):
            with self.assertRaisesRegex(ridge.nufft.NufftError, "upsampfac must be above 1"):
                planned(upsampfac=factor)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
