"""Transforms of PyTorch tensors with gradients of any order, forward mode, torch.func and torch.compile.

    import ridge.torch
    y = ridge.torch.rfft(x)                  # a tensor on x's device; on CUDA on the current stream, nothing is waited for
    y.abs().square().sum().backward()
    f = ridge.torch.nufft2d1(kx, ky, c, (256, 256))   # nonuniform transforms, with gradients by c and by the points

Names and arguments are those of torch.fft; dct, idct, dst and idst have SciPy's. Every function is built on one linear operator whose
adjoint is the same operator, so nothing is saved for the backward pass. float16 and bfloat16 become float32, integers double.
"""
import torch as _torch
from torch.autograd import forward_ad as _forward_ad

from . import _cuda, _ridge
from ._fft_arguments import _product, _scale, _shape_and_axes
from ._fft_cosine import _problem as _cosine_problem
from ._transforms import (COSINE as _COSINE, COSINES as _COSINES, FORWARD as _FORWARD, FOURIER as _FOURIER, HALF as _HALF,
                          INVERSE as _INVERSE, NAMES as _NAMES, SAMPLES as _SAMPLES, Operators as _Operators, define as _define)

from ._torch_tensors import Tensors as _Backend
from ._torch_nufft import NAMES as _NONUNIFORM, nufft1d1, nufft1d2, nufft1d3, nufft2d1, nufft2d2, nufft2d3, nufft3d1, nufft3d2, nufft3d3

__all__ = [*_NAMES, "convolve", *_NONUNIFORM]

_MANY_POINTS = 1 << 16  # from here on the host uses torch's number of threads
_COMPLEX = {_torch.float32: _torch.complex64, _torch.float64: _torch.complex128}
_REAL = {wide: narrow for narrow, wide in _COMPLEX.items()}
_TYPES = {*_COMPLEX, *_REAL}
_PLAIN = (_torch.Tensor, _torch.nn.Parameter)  # subclasses may redefine operations
_MOST_CALLS = 512  # remembered by _Transforms.short
_OF_CONJUGATES = {name for name, (kind, hermitian, _) in _FOURIER.items() if hermitian and kind == _SAMPLES}  # hfft
_TO_CONJUGATES = {name for name, (kind, hermitian, _) in _FOURIER.items() if hermitian and kind == _HALF}     # ihfft


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
            return _cuda.cosine(_Backend(), x.contiguous(), axes, real_kinds, scale, adjoint)
        return _cuda.linear(_Backend(), x, kind, axes, length, scale, adjoint).contiguous()
    if x.device.type != "cpu":
        raise ValueError(f"ridge.torch transforms tensors on the CPU and on CUDA, got one on {x.device}")
    shape, dtype = _result(x, kind, axes, length, adjoint)
    out = _torch.empty(shape, dtype=dtype)
    if out.numel():
        threads = _torch.get_num_threads() if x.numel() >= _MANY_POINTS else 1
        _ridge.transform(x.numpy(), out.numpy(), kind, [a % x.ndim for a in axes], real_kinds, scale, threads, adjoint)
    return out


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


def _no_transformation():
    """True outside forward mode, torch.func and torch.compile."""
    if _forward_ad._current_level >= 0:
        return False
    if not hasattr(_torch, "compiler"):
        return True  # before PyTorch 2.1 neither sees a Function
    return not _torch.compiler.is_compiling() and _torch._C._functorch.peek_interpreter_stack() is None


def _direct(x):
    """True for a tensor whose memory can be transformed directly: no lazy conjugation, no transformation of torch."""
    # Transformations first: torch.compile cannot trace is_conj().
    return type(x) in _PLAIN and x.dtype in _TYPES and _no_transformation() and not x.is_conj() and not x.is_neg()


def _plain(x):
    """True for a tensor that can be transformed directly and needs no gradient."""
    return not (x.requires_grad and _torch.is_grad_enabled()) and _direct(x)


def _never():
    return False


_is_compiling = _torch.compiler.is_compiling if hasattr(_torch, "compiler") else _never
_empty_like = _torch.empty_like  # of an expanded tensor: packed
_stream = getattr(_torch._C, "_cuda_getCurrentRawStream", None) or (lambda index: _torch.cuda.current_stream(index).cuda_stream)


class _Call:
    """A prepared map of tensors of one layout: the result's shape and type, the plan, and the arguments of the operator.

    ends: factors of the first and last values of a cosine or sine transform (_fft_cosine._ends), inside the plan.
    """
    __slots__ = ("like", "plan", "inverse", "run", "how", "map", "ends", "stream", "held", "packed", "other")

    def __init__(self, x, shape, dtype, map_, ends, stream):
        self.map, self.ends, self.stream = map_, ends, stream
        self.like = _torch.empty(1, dtype=dtype, device=x.device).expand(shape)  # empty_like(tensor) costs less than empty(shape, ...)
        if not _empty_like(self.like).is_contiguous():
            self.like = _torch.empty(shape, dtype=dtype, device=x.device)
        self.inverse = (map_[0] in (_INVERSE, _SAMPLES)) != map_[-1]
        self.plan, self.run, self.how = (self._on_host if x.device.type == "cpu" else self._on_stream)(x, *map_)
        self.held, self.packed = (x.shape, x.dtype), x.is_contiguous()
        self.other = None

    def __call__(self, x):
        out = _empty_like(self.like)
        self.run(x.data_ptr(), out.data_ptr(), *self.how)
        return out

    def _on_host(self, x, kind, axes, real_kinds, length, scale, adjoint):
        out = _empty_like(self.like)
        axes = [a % x.ndim for a in axes]
        plan = _ridge.Plan(x.numpy(), out.numpy(), kind, axes, real_kinds, scale, 1, False, adjoint, self.ends)
        return plan, plan.run_at, ()

    def _on_stream(self, x, kind, axes, real_kinds, length, scale, adjoint):
        """Plan and arguments for packed CUDA tensors."""
        where = f"cuda:{x.device.index or 0}", self.stream, x.dtype in (_torch.float32, _torch.complex64)
        if kind == _COSINE:
            axes = tuple(a % x.ndim for a in axes)
            plan = _cuda.real_plan(*where, tuple(x.shape), axes, tuple(real_kinds), scale, False, adjoint, self.ends)
            return plan, plan.enqueue, (self.stream,)
        first = x.ndim - len(axes)
        lengths = [*x.shape[first:]]
        if kind >= _HALF and self.inverse:
            lengths[-1] = length
        plan = _cuda._plan(*where, tuple(lengths), _product(x.shape[:first]), kind >= _HALF, self.inverse, scale, adjoint)
        return plan, plan.enqueue, (self.inverse, self.stream)

    def adjoint(self, g):
        """The call of the adjoint, for packed gradients on the same stream; g is one of them."""
        if self.other is None:
            *rest, adjoint = self.map
            self.other = _Call(g, *self.held, (*rest, not adjoint), self.ends, self.stream)
            if self.packed:
                self.other.other = self  # gradients of the second order are packed, as x
        return self.other

    def adjoint_by_operator(self, g):
        """The adjoint inside forward mode, torch.func or torch.compile."""
        *rest, adjoint = self.map
        axes = [a % g.ndim for a in rest[1]]
        before, after = (self.ends[:2], self.ends[2:]) if adjoint else (self.ends[2:], self.ends[:2])
        g = _linear(_transforms._scale_all(g, axes, before), *rest, not adjoint)
        return _transforms._scale_all(g, axes, after)


class _Prepared(_torch.autograd.Function):
    """A prepared call with a gradient, outside forward mode and torch.func. The backward pass is its adjoint's prepared call."""

    @staticmethod
    def forward(ctx, x, call):
        ctx.call = call
        return call(x)

    @staticmethod
    def backward(ctx, g):
        call = ctx.call
        if not _direct(g) or not g.is_contiguous():
            if not _no_transformation():
                return call.adjoint_by_operator(g), None
            g = g.resolve_conj().resolve_neg().contiguous()
        other = call.other or call.adjoint(g.detach())
        return (_apply(g, other) if g.requires_grad and _torch.is_grad_enabled() else other(g)), None


def _applied(function):
    """The C implementation of apply(). In PyTorch 2 Function.apply() is a Python function for torch.func, which _direct() excludes."""
    return super(_torch.autograd.Function, function).apply


_apply = _applied(_Prepared)


def _prepared(name, x, stream, s, dim, norm, *cosine):
    """The call of a transform that needs nothing but a plan, else None. Raises what the transform would raise.

    For Hermitian transforms the call takes the conjugate of x (hfft), or its result is to be conjugated (ihfft).
    """
    kind, hermitian, several = _FOURIER.get(name) or (_COSINE, False, _COSINES[name][2])
    if (kind in (_HALF, _COSINE)) == x.dtype.is_complex or not 0 < x.numel() < _MANY_POINTS and not x.is_cuda:
        return None
    if not several:
        s, dim = None if s is None else [s], [dim]
    lengths, axes = _shape_and_axes(x, s, dim, kind == _SAMPLES)
    if not axes or not x.numel():
        return None
    held = [*lengths[:-1], lengths[-1] // 2 + 1] if kind == _SAMPLES else lengths
    if any(x.shape[a] != n for n, a in zip(held, axes)):
        return None
    if x.is_cuda and (len(axes) > 3 or not x.is_contiguous() or (kind != _COSINE and axes != list(range(x.ndim - len(axes), x.ndim)))):
        return None
    length, real_kinds, ends = lengths[-1], [], ()
    if kind == _COSINE:
        type_, orthogonalize = cosine
        real_kind, scale, ends = _cosine_problem(lengths, type_, norm, orthogonalize, *_COSINES[name][:2])
        real_kinds = [real_kind] * len(axes)
    else:
        scale = _scale(norm, _product(lengths), (kind in (_INVERSE, _SAMPLES)) != hermitian)
    return _Call(x, *_result(x, kind, axes, length, False), (kind, [a - x.ndim for a in axes], real_kinds, length, scale, False),
                 ends, stream)


class _Transforms(_Operators):
    """PyTorch's part of the transforms."""

    def __init__(self, table=getattr(_torch.Tensor, "__dlpack_c_exchange_api__", None)):
        """table: DLPack's C exchange table of tensors. With it, repeated calls are found without Python."""
        self.calls = {}
        self.table = self.by_table = None
        if table is not None:
            inside = None if _is_compiling is _never else _torch._C._functorch.peek_interpreter_stack
            self.table = _ridge.TensorCalls(table, list(_PLAIN), _empty_like, inside, _forward_ad, _torch.is_grad_enabled)
            self.by_table = self.table.function()
            self.table.set_differentiable(_applied(type("_PreparedByTable", (_Prepared,), {"forward": staticmethod(self.table.forward())})))

    def short(self, name, x, s, dim, norm, *cosine):
        """Plans of repeated calls are found by the tensor's layout: a call is a look-up, an allocation and a run."""
        if self.by_table is not None and not _is_compiling():
            out = self.by_table(name, x, s, dim, norm, *cosine)
            if out is not None:
                return out
        if not isinstance(x, _torch.Tensor) or not _direct(x):
            return None
        if name in _OF_CONJUGATES:
            x = x.conj().resolve_conj()
        device = x.device
        if device.type == "cpu":
            key, stream = (name, x.dtype, x.shape, x.stride(), s, dim, norm, *cosine), 0
        elif device.type == "cuda":
            stream = _stream(device.index)
            key = (name, x.dtype, x.shape, x.stride(), s, dim, norm, *cosine, device.index, stream)
        else:
            return None
        try:
            found = self.calls.get(key, self)
        except TypeError:  # lists as arguments
            return None
        if found is self:
            if stream and _torch.cuda.is_current_stream_capturing():
                raise RuntimeError(f"{name} of this layout has no plan on this stream, and none can be made while the stream is captured: call "
                                   "it once before, on the stream s that torch.cuda.graph(g, stream=s) captures")
            if len(self.calls) >= _MOST_CALLS:
                self.calls.clear()
            found = self.calls[key] = _prepared(name, x.detach(), stream, s, dim, norm, *cosine)
        if found is None:
            return None
        out = _apply(x, found) if x.requires_grad and _torch.is_grad_enabled() else found(x)
        if self.table is not None and name not in _OF_CONJUGATES and name not in _TO_CONJUGATES:
            self.table.add(found, name, x, s, dim, norm, *cosine)
        return out.conj().resolve_conj() if name in _TO_CONJUGATES else out

    def floating(self, x, complex_wanted):
        if not isinstance(x, _torch.Tensor):
            raise TypeError(f"ridge.torch needs a tensor, got {type(x).__name__}: use ridge.fft for other arrays")
        if x.dtype in (_torch.float16, _torch.bfloat16):
            x = x.to(_torch.float32)
        elif not x.dtype.is_floating_point and not x.dtype.is_complex:
            x = x.to(_torch.float64)
        elif x.dtype not in _TYPES:
            raise TypeError(f"cannot transform a tensor of type {x.dtype}")
        return x.to(_COMPLEX[x.dtype]) if complex_wanted and x.dtype in _COMPLEX else x

    def is_complex(self, x):
        return x.dtype.is_complex

    def conj(self, x):
        return x.conj().resolve_conj()

    def fitted(self, x, n, axis):
        if x.shape[axis] > n:
            return x.narrow(axis, 0, n)
        pad = list(x.shape)
        pad[axis] = n - x.shape[axis]
        return _torch.cat([x, x.new_zeros(pad)], axis)

    def linear(self, x, axes, kind, real_kinds, length, scale):
        axes, real_kinds = [a - x.ndim for a in axes], list(real_kinds)
        return (_compute if _plain(x) else _linear)(x, kind, axes, real_kinds, length, scale, False)

    def scaled_ends(self, x, axis, first, last):
        factors = _torch.ones(x.shape[axis], dtype=x.dtype, device=x.device)
        factors[0] *= first
        factors[-1] *= last
        return x * factors.reshape([-1 if i == axis else 1 for i in range(x.ndim)])

    def of_parts(self, function, x):
        return _torch.complex(function(x.real), function(x.imag))


_transforms = _Transforms()
_define(globals(), _transforms, dim=True)


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
