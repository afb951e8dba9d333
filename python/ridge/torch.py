"""Transforms of PyTorch tensors with gradients of any order, forward mode, torch.func and torch.compile.

    import ridge.torch
    y = ridge.torch.rfft(x)                  # a tensor on x's device; on CUDA on the current stream, nothing is waited for
    y.abs().square().sum().backward()

Names and arguments are those of torch.fft; dct, idct, dst and idst have SciPy's. Every function is built on one linear operator whose
adjoint is the same operator, so nothing is saved for the backward pass. float16 and bfloat16 become float32, integers double.
"""
import torch as _torch
from torch.autograd import forward_ad as _forward_ad

from . import _cuda, _ridge
from ._fft_arguments import _product, _scale, _shape_and_axes
from ._fft_cosine import _DCT, _DST, _INVERSE_TYPE, _ends

__all__ = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft", "ihfft",
           "hfft2", "ihfft2", "hfftn", "ihfftn", "dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn", "convolve"]

_MANY_POINTS = 1 << 16  # from here on the host uses torch's number of threads
_COMPLEX = {_torch.float32: _torch.complex64, _torch.float64: _torch.complex128}
_REAL = {wide: narrow for narrow, wide in _COMPLEX.items()}
_FORWARD, _INVERSE, _HALF, _SAMPLES, _COSINE = range(5)
_QUICK_TYPES = {*_COMPLEX, *_REAL}


class _Tensors:
    """Backend of ridge._cuda for tensors."""

    def dtype(self, x):
        return str(x.dtype).partition(".")[2]

    def packed(self, x, order):
        return x.permute(order).contiguous()

    def moved(self, x, order):
        return x.permute(order)

    def empty(self, shape, name, like):
        return _torch.empty(shape, dtype=getattr(_torch, name), device=like.device)

    def address(self, x):
        return x.data_ptr()

    def device(self, x):
        return f"cuda:{x.device.index or 0}"

    def stream(self, x):
        return _torch.cuda.current_stream(x.device).cuda_stream


def _result(x, kind, axes, length, adjoint):
    """Shape and type of the operator's result."""
    shape = list(x.shape)
    if kind in (_HALF, _SAMPLES):
        shape[axes[-1]] = length if (kind == _SAMPLES) != adjoint else length // 2 + 1
    if kind == _COSINE or kind in (_FORWARD, _INVERSE):
        return shape, x.dtype
    return shape, _REAL[x.dtype] if (kind == _SAMPLES) != adjoint else _COMPLEX[x.dtype]


def _compute(x, kind, axes, real_kinds, length, scale, adjoint):
    x = x.detach().resolve_conj().resolve_neg()
    if x.is_cuda:
        if kind == _COSINE:
            return _cosine_on_cuda(x, axes, real_kinds, scale, adjoint)
        return _cuda.linear(_Tensors(), x, kind, axes, length, scale, adjoint).contiguous()
    if x.device.type != "cpu":
        raise ValueError(f"ridge.torch transforms tensors on the CPU and on CUDA, got one on {x.device}")
    shape, dtype = _result(x, kind, axes, length, adjoint)
    out = _torch.empty(shape, dtype=dtype)
    if out.numel():
        threads = _torch.get_num_threads() if x.numel() >= _MANY_POINTS else 1
        _ridge.transform(x.numpy(), out.numpy(), kind, [a % x.ndim for a in axes], real_kinds, scale, threads, adjoint)
    return out


def _cosine_on_cuda(x, axes, real_kinds, scale, adjoint):
    """Cosine and sine transforms of CUDA tensors: on the device for the plain transform, through the host for an adjoint."""
    if adjoint:
        return _compute(x.cpu(), _COSINE, axes, real_kinds, 0, scale, True).to(x.device)
    from ._fft_device import _real_on_device
    from .array import asarray
    lengths = [x.shape[a] for a in axes]
    out = _real_on_device(asarray(x.contiguous()), real_kinds[0], lengths, [a % x.ndim for a in axes], scale, (1, 1), (1, 1))
    return _torch.from_dlpack(out)


if hasattr(_torch.library, "custom_op"):  # PyTorch 2.4 and later
    @_torch.library.custom_op("ridge::linear", mutates_args=())
    def _operator(x: _torch.Tensor, kind: int, axes: list[int], real_kinds: list[int], length: int, scale: float,
                  adjoint: bool) -> _torch.Tensor:
        return _compute(x, kind, axes, real_kinds, length, scale, adjoint)

    @_operator.register_fake
    def _(x, kind, axes, real_kinds, length, scale, adjoint):
        shape, dtype = _result(x, kind, axes, length, adjoint)
        return _torch.empty(shape, dtype=dtype, device=x.device)

    def _remember(ctx, inputs, output):
        ctx.map = inputs[1:]

    def _operator_backward(ctx, g):
        *rest, adjoint = ctx.map
        return (_operator(g, *rest, not adjoint), None, None, None, None, None, None)

    _operator.register_autograd(_operator_backward, setup_context=_remember)

    class _Linear(_torch.autograd.Function):
        """The operator for eager calls: forward mode and torch.func need a Function."""

        @staticmethod
        def forward(x, *rest):
            return _operator(x, *rest)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.map = inputs[1:]

        @staticmethod
        def backward(ctx, g):
            *rest, adjoint = ctx.map
            return (_Linear.apply(g, *rest, not adjoint), None, None, None, None, None, None)

        @staticmethod
        def jvp(ctx, dx, *_):
            return _Linear.apply(dx, *ctx.map)

        @staticmethod
        def vmap(info, in_dims, x, *rest):
            return _Linear.apply(x.movedim(in_dims[0], 0), *rest), 0

    def _linear(x, *rest):
        # Dynamo refuses a Function with its own forward mode, so the operator itself is compiled.
        return (_operator if _torch.compiler.is_compiling() else _Linear.apply)(x, *rest)
else:
    class _Linear(_torch.autograd.Function):
        """The operator and its adjoint, which is the same operator with the last argument inverted."""

        @staticmethod
        def forward(ctx, x, *rest):
            ctx.map = rest
            return _compute(x, *rest)

        @staticmethod
        def backward(ctx, g):
            *rest, adjoint = ctx.map
            return (_Linear.apply(g, *rest, not adjoint), None, None, None, None, None, None)

        @staticmethod
        def jvp(ctx, dx, *_):
            return _Linear.apply(dx, *ctx.map)

    def _linear(x, *rest):
        return _Linear.apply(x, *rest)


def _floating(x, complex_wanted):
    if not isinstance(x, _torch.Tensor):
        raise TypeError(f"ridge.torch needs a tensor, got {type(x).__name__}: use ridge.fft for other arrays")
    if x.dtype in (_torch.float16, _torch.bfloat16):
        x = x.to(_torch.float32)
    elif not x.dtype.is_floating_point and not x.dtype.is_complex:
        x = x.to(_torch.float64)
    elif x.dtype not in _COMPLEX and x.dtype not in _REAL:
        raise TypeError(f"cannot transform a tensor of type {x.dtype}")
    return x.to(_COMPLEX[x.dtype]) if complex_wanted and x.dtype in _COMPLEX else x


def _no_transformation():
    """True outside forward mode, torch.func and torch.compile."""
    if _forward_ad._current_level >= 0:
        return False
    if not hasattr(_torch, "compiler"):
        return True  # before PyTorch 2.1 neither sees a Function
    return not _torch.compiler.is_compiling() and _torch._C._functorch.peek_interpreter_stack() is None


def _short(code, x, n, dim, norm):
    """The short path of plain CPU tensors without gradients, or None."""
    if type(x) is not _torch.Tensor or x.requires_grad or x.device.type != "cpu" or x.numel() >= _MANY_POINTS:
        return None
    if x.is_conj() or x.is_neg() or x.dtype not in _QUICK_TYPES or not _no_transformation():
        return None
    out = _ridge.quick(code, x.numpy(), (n, dim, norm), {})
    return None if out is None else _torch.from_numpy(out)


def _fitted(x, lengths, axes):
    """x cut or zero-padded along the axes, differentiable."""
    for n, axis in zip(lengths, axes):
        if x.shape[axis] > n:
            x = x.narrow(axis, 0, n)
        elif x.shape[axis] < n:
            pad = list(x.shape)
            pad[axis] = n - x.shape[axis]
            x = _torch.cat([x, x.new_zeros(pad)], axis)
    return x


def _transform(x, s, dim, norm, kind, hermitian=False):
    """kind: the operator without the Hermitian conjugation. hfft is _SAMPLES of the conjugate, scaled as a forward transform."""
    x = _floating(x, kind != _HALF)
    if kind == _HALF and x.dtype.is_complex:
        raise TypeError("x must be a real sequence")
    lengths, axes = _shape_and_axes(x, s, dim, kind == _SAMPLES)
    if not axes:
        if kind in (_HALF, _SAMPLES):
            raise ValueError("at least 1 axis must be transformed")
        return x
    held = [*lengths[:-1], lengths[-1] // 2 + 1] if kind == _SAMPLES else lengths
    x = _fitted(x, held, axes)
    inverse = kind in (_INVERSE, _SAMPLES)
    scale = _scale(norm, _product(lengths), inverse != hermitian)
    if hermitian and kind == _SAMPLES:
        x = x.conj()
    y = _linear(x, kind, [a - x.ndim for a in axes], [], lengths[-1], scale, False)
    return y.conj().resolve_conj() if hermitian and kind == _HALF else y


def fft(input, n=None, dim=-1, norm=None):
    """One-dimensional transform, as torch.fft.fft."""
    out = _short(0, input, n, dim, norm)
    return _transform(input, None if n is None else [n], [dim], norm, _FORWARD) if out is None else out


def ifft(input, n=None, dim=-1, norm=None):
    """The inverse of fft."""
    out = _short(1, input, n, dim, norm)
    return _transform(input, None if n is None else [n], [dim], norm, _INVERSE) if out is None else out


def rfft(input, n=None, dim=-1, norm=None):
    """Transform of real samples: the first n//2+1 values."""
    out = _short(2, input, n, dim, norm)
    return _transform(input, None if n is None else [n], [dim], norm, _HALF) if out is None else out


def irfft(input, n=None, dim=-1, norm=None):
    """The inverse of rfft; n is the number of samples, by default 2*(m-1)."""
    out = _short(3, input, n, dim, norm)
    return _transform(input, None if n is None else [n], [dim], norm, _SAMPLES) if out is None else out


def hfft(input, n=None, dim=-1, norm=None):
    """The real spectrum of samples with Hermitian symmetry."""
    return _transform(input, None if n is None else [n], [dim], norm, _SAMPLES, True)


def ihfft(input, n=None, dim=-1, norm=None):
    """The inverse of hfft."""
    return _transform(input, None if n is None else [n], [dim], norm, _HALF, True)


def fftn(input, s=None, dim=None, norm=None):
    """Transform over several axes."""
    return _transform(input, s, dim, norm, _FORWARD)


def ifftn(input, s=None, dim=None, norm=None):
    """The inverse of fftn."""
    return _transform(input, s, dim, norm, _INVERSE)


def rfftn(input, s=None, dim=None, norm=None):
    """Transform of real samples over several axes."""
    return _transform(input, s, dim, norm, _HALF)


def irfftn(input, s=None, dim=None, norm=None):
    """The inverse of rfftn."""
    return _transform(input, s, dim, norm, _SAMPLES)


def hfftn(input, s=None, dim=None, norm=None):
    """hfft over several axes."""
    return _transform(input, s, dim, norm, _SAMPLES, True)


def ihfftn(input, s=None, dim=None, norm=None):
    """The inverse of hfftn."""
    return _transform(input, s, dim, norm, _HALF, True)


def _over_two(function):
    def call(input, s=None, dim=(-2, -1), norm=None):
        return function(input, s, dim, norm)
    call.__name__ = call.__qualname__ = function.__name__[:-1] + "2"
    call.__doc__ = f"{function.__name__} over two axes."
    return call


fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = map(_over_two, (fftn, ifftn, rfftn, irfftn, hfftn, ihfftn))


def _scaled_ends(x, axes, first, last):
    for axis in axes:
        if (first, last) != (1, 1):
            factors = _torch.ones(x.shape[axis], dtype=x.dtype, device=x.device)
            factors[0] *= first
            factors[-1] *= last
            x = x * factors.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return x


def _real_to_real(x, type, s, dim, norm, orthogonalize, table, inverse):
    x = _floating(x, False)
    if x.dtype.is_complex:
        return _torch.complex(*[_real_to_real(part, type, s, dim, norm, orthogonalize, table, inverse) for part in (x.real, x.imag)])
    lengths, axes = _shape_and_axes(x, s, dim)
    if type not in table:
        raise ValueError(f"invalid type {type!r}: use 1, 2, 3 or 4")
    kind = _INVERSE_TYPE[type] if inverse else type
    if table is _DCT and kind == 1 and any(n < 2 for n in lengths):
        raise ValueError("DCT-I is not defined for size < 2")
    if not axes:
        return x
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    points = _product([2 * (n - 1) if table is _DCT and kind == 1 else 2 * (n + 1) if kind == 1 else 2 * n for n in lengths])
    before, after = _ends(kind, table) if orthogonalize else ((1, 1), (1, 1))
    x = _scaled_ends(_fitted(x, lengths, axes), axes, *before)
    y = _linear(x, _COSINE, [a - x.ndim for a in axes], [table[kind]] * len(axes), 0, _scale(norm, points, inverse), False)
    return _scaled_ends(y, axes, *after)


def _cosine(name, table, inverse, several):
    if several:
        def call(x, type=2, s=None, dim=None, norm=None, orthogonalize=None):
            return _real_to_real(x, type, s, dim, norm, orthogonalize, table, inverse)
    else:
        def call(x, type=2, n=None, dim=-1, norm=None, orthogonalize=None):
            return _real_to_real(x, type, None if n is None else [n], [dim], norm, orthogonalize, table, inverse)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"As ridge.fft.{name}, differentiable."
    return call


dct, idct, dctn, idctn = (_cosine(n, _DCT, n[0] == "i", n[-1] == "n") for n in ("dct", "idct", "dctn", "idctn"))
dst, idst, dstn, idstn = (_cosine(n, _DST, n[0] == "i", n[-1] == "n") for n in ("dst", "idst", "dstn", "idstn"))


def convolve(x, h, dim=-1):
    """Linear convolution along an axis, differentiable with respect to both: x.shape[dim] + h.shape[dim] - 1 values.

    Both tensors have the same number of axes, or h has one.
    """
    if h.ndim == 1 and x.ndim > 1:
        h = h.reshape([-1 if i == dim % x.ndim else 1 for i in range(x.ndim)])
    n = x.shape[dim] + h.shape[dim] - 1
    if x.dtype.is_complex or h.dtype.is_complex:
        return ifft(fft(x, n, dim) * fft(h, n, dim), n, dim)
    return irfft(rfft(x, n, dim) * rfft(h, n, dim), n, dim)
