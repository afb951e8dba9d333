"""Compares transforms of device arrays with the host in double precision: axes, lengths, norms, kinds."""
import numpy as np

import ridge

random = np.random.default_rng(17)
COMPLEX = ("fft", "ifft", "irfft", "hfft")
REAL = ("rfft", "ihfft")


def numbers(shape, kind, single=True):
    x = random.standard_normal(shape)
    if kind == "c":
        x = x + 1j * random.standard_normal(shape)
    return x.astype({"f": np.float32, "c": np.complex64}[kind] if single else {"f": np.float64, "c": np.complex128}[kind])


def same(test, device, name, x, **arguments):
    what = f"{name} of {x.dtype} {x.shape} {arguments}"
    there = ridge.array(x, device)
    got = getattr(ridge.fft, name)(there, **arguments)
    single = x.dtype in (np.float32, np.complex64)
    wide = x.astype((np.complex128 if x.dtype.kind == "c" else np.float64))
    want = getattr(ridge.fft, name)(wide, **arguments)
    test.assertEqual(got.device, device, what)
    test.assertEqual(got.shape, want.shape, what)
    test.assertEqual(got.dtype.kind, want.dtype.kind, what)
    test.assertEqual(got.dtype.itemsize, want.dtype.itemsize // (2 if single else 1), what)
    error = np.linalg.norm(got.numpy().astype(want.dtype) - want) / max(np.linalg.norm(want), 1e-300)
    test.assertLessEqual(error, 6e-7 if single else 2e-15, what)  # fails for NaN too
    np.testing.assert_array_equal(there.numpy(), x, what)  # the input is kept


def every_function(test, device, n, single=True, thorough=False):
    """Transforms along any axis with n points, also cut and padded to n; compiles one kernel per kind and length."""
    c, r = numbers((2, n, n), "c", single), numbers((2, n, n), "f", single)
    half = numbers((n // 2 + 1, 3), "c", single)
    for name in COMPLEX:
        x = half if name in ("irfft", "hfft") else c[0]
        same(test, device, name, x, axis=0, n=n if name in ("irfft", "hfft") else None)
    for name in REAL:
        same(test, device, name, r[0], axis=0, norm="ortho")
    same(test, device, "fft", r)  # real numbers become complex
    same(test, device, "fft", numbers((n - 2, 3), "c", single), n=n, axis=0)  # padded
    same(test, device, "rfft", numbers((3, n + 1), "f", single), n=n, norm="forward")  # cut
    if n > 4:  # padded: the zeros are not stored
        same(test, device, "rfft", numbers((3, n - 3), "f", single), n=n)
        same(test, device, "irfft", numbers((3, n // 2 - 1), "c", single), n=n)
    same(test, device, "fftn", c[:1], axes=())
    if thorough:
        five = numbers((2, n, 2, 3, 2), "c", single)
        for name in ("fftn", "ifftn"):
            same(test, device, name, c, norm="ortho")
            same(test, device, name, c, axes=(2, 0))
            same(test, device, name, five)  # more axes than one plan supports
            same(test, device, name, five, s=(3, n), axes=(4, 1))
        for name in ("rfftn", "ihfftn"):
            same(test, device, name, r, axes=(1, 2))
            same(test, device, name, np.ascontiguousarray(five.real), norm="forward")
        for name in ("irfftn", "hfftn"):
            same(test, device, name, five, s=(2, n, 2, 3, 3))
            same(test, device, name, c, axes=(2, 1), norm="ortho")


def cosines_and_sines(test, device, n, kinds, single=True, thorough=False):
    x = numbers((2, n, 3), "f", single)
    for name, kind in kinds:
        same(test, device, name, x, type=kind, axis=1, norm="ortho")
        if thorough:
            same(test, device, name, x, type=kind, axis=1)
            same(test, device, name, x, type=kind, n=n + 1, axis=1, norm="forward")
            same(test, device, name, numbers((3, n), "c", single), type=kind, norm="ortho")
            same(test, device, name + "n", x, type=kind, norm="ortho", orthogonalize=False)
            same(test, device, name + "n", numbers((2, n, 2, 3), "f", single), type=kind, norm="ortho")


def mistakes(test, device):
    x = ridge.array(numbers((2, 8), "c"), device)
    for wrong, call in ((TypeError, lambda: ridge.fft.rfft(x)), (TypeError, lambda: ridge.fft.ihfft(x)),
                        (TypeError, lambda: ridge.fft.fft(ridge.array(np.zeros(8, np.int32), device))),
                        (TypeError, lambda: ridge.fft.dct(ridge.array(np.zeros(8, np.uint8), device))),
                        (IndexError, lambda: ridge.fft.fft(x, axis=2)), (ValueError, lambda: ridge.fft.fftn(x, axes=(0, 0))),
                        (ValueError, lambda: ridge.fft.rfftn(ridge.array(np.zeros(8, np.float32), device), axes=())),
                        (ValueError, lambda: ridge.fft.fft(x, n=0)), (ValueError, lambda: ridge.fft.fft(x, norm="loud")),
                        (ValueError, lambda: ridge.fft.dct(x, type=5)),
                        (ValueError, lambda: ridge.fft.dct(ridge.array(np.zeros((3, 1), np.float32), device), type=1))):
        with test.assertRaises(wrong):
            call()
    test.assertEqual(ridge.fft.fft(ridge.empty((0, 4), np.complex64, device)).shape, (0, 4))
    test.assertEqual(ridge.fft.dct(ridge.empty((0, 4), np.float32, device), norm="ortho", type=3).shape, (0, 4))
