"""Calls the handler of XLA's foreign function interface with call frames made here; with JAX installed also jit, grad, jvp and vmap."""
import ctypes as c
import sys
import unittest

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import jax
    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

import ridge
from ridge import _ridge

random = np.random.default_rng(8)
TYPES = {"int64": 5, "float32": 11, "float64": 12, "complex64": 15, "complex128": 18}


class Version(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("major", c.c_int), ("minor", c.c_int)]


class Metadata(c.Structure):
    _fields_ = [("size", c.c_size_t), ("version", Version), ("traits", c.c_uint32)]


class MetadataExtension(c.Structure):
    _fields_ = [("size", c.c_size_t), ("type", c.c_int), ("next", c.c_void_p), ("metadata", c.POINTER(Metadata))]


class CreateFailure(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("message", c.c_char_p), ("code", c.c_int)]


CREATE = c.CFUNCTYPE(c.c_void_p, c.POINTER(CreateFailure))


class Api(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("version", Version), ("internal", c.c_void_p), ("create", CREATE),
                ("message", c.c_void_p), ("destroy", c.c_void_p), ("register", c.c_void_p), ("stream", c.c_void_p)]


class Buffer(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("type", c.c_int), ("data", c.c_void_p), ("rank", c.c_int64),
                ("lengths", c.POINTER(c.c_int64))]


class Scalar(c.Structure):
    _fields_ = [("type", c.c_int), ("value", c.c_void_p)]


class List(c.Structure):
    _fields_ = [("type", c.c_int), ("count", c.c_size_t), ("values", c.c_void_p)]


class Text(c.Structure):
    _fields_ = [("data", c.c_char_p), ("count", c.c_size_t)]


class Buffers(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("count", c.c_int64), ("types", c.POINTER(c.c_int)),
                ("items", c.POINTER(c.c_void_p))]


class Attributes(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("count", c.c_int64), ("types", c.POINTER(c.c_int)),
                ("names", c.POINTER(c.POINTER(Text))), ("values", c.POINTER(c.c_void_p))]


class Frame(c.Structure):
    _fields_ = [("size", c.c_size_t), ("extension", c.c_void_p), ("api", c.POINTER(Api)), ("context", c.c_void_p), ("stage", c.c_int),
                ("arguments", Buffers), ("results", Buffers), ("attributes", Attributes)]


def handler(platform="cpu", nonuniform=False):
    get = c.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c.c_void_p, (c.py_object, c.c_char_p)
    return c.CFUNCTYPE(c.c_void_p, c.POINTER(Frame))(get(_ridge.xla_nufft_handler(platform) if nonuniform else _ridge.xla_handler(platform), b"xla._CUSTOM_CALL_TARGET"))


STREAM = c.CFUNCTYPE(c.c_void_p, c.c_void_p)


def call(x, out, stage=3, leave_out="", platform="cpu", addresses=None, nonuniform=False, **given):
    """Runs a handler on arrays as XLA does; None or (code, message). x: the argument, or several. addresses: of the arrays in device memory."""
    failures = []
    default_stream = STREAM(lambda request: None)  # leaves the stream null
    create = CREATE(lambda f: failures.append((f.contents.code, f.contents.message.decode())) or 1)
    api = Api(c.sizeof(Api), None, Version(c.sizeof(Version), None, 0, 1), None, create, None, None, None, c.cast(default_stream, c.c_void_p))
    kept = []

    def buffers(arrays, addresses):
        items, types = (c.c_void_p * len(arrays))(), (c.c_int * len(arrays))(*[1] * len(arrays))
        for i, (array, address) in enumerate(zip(arrays, addresses)):
            lengths = (c.c_int64 * array.ndim)(*array.shape)
            buffer = Buffer(c.sizeof(Buffer), None, TYPES[array.dtype.name], address, array.ndim, lengths)
            items[i] = c.addressof(buffer)
            kept.extend((lengths, buffer))
        kept.extend((items, types))
        return Buffers(c.sizeof(Buffers), None, len(arrays), types, items)
    how = dict(given) if nonuniform else {"kind": 0, "count": 1, "length": 0, "scale": 1.0, "adjoint": 0, "real_kinds": [], **given}
    names = sorted(name for name in how if name != leave_out)
    types, values, texts = (c.c_int * len(names))(), (c.c_void_p * len(names))(), (c.POINTER(Text) * len(names))()
    for i, name in enumerate(names):
        value = how[name]
        if isinstance(value, list):
            memory = (c.c_int64 * len(value))(*value)
            item, types[i] = List(TYPES["int64"], len(value), c.addressof(memory)), 1
        else:
            memory = c.c_double(value) if isinstance(value, float) else c.c_int64(value)
            item, types[i] = Scalar(TYPES["float64" if isinstance(value, float) else "int64"], c.addressof(memory)), 3
        text = Text(name.encode(), len(name))
        texts[i], values[i] = c.pointer(text), c.addressof(item)
        kept.extend((memory, item, text))
    arguments = x if isinstance(x, tuple) else (x,)
    addresses = addresses or [a.ctypes.data for a in (*arguments, out)]
    frame = Frame(c.sizeof(Frame), None, c.pointer(api), None, stage, buffers(arguments, addresses[:-1]), buffers((out,), addresses[-1:]),
                  Attributes(c.sizeof(Attributes), None, len(names), types, texts, values))
    handler(platform, nonuniform)(c.byref(frame))
    return failures[0] if failures else None


def samples(shape, dtype):
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


class Handler(unittest.TestCase):
    def test_metadata(self):
        _ridge.set_xla_api_version(0, 4)
        for platform in ("cpu", "CUDA"):
            metadata = Metadata(c.sizeof(Metadata), Version(c.sizeof(Version), None, -1, -1), 99)
            extension = MetadataExtension(24, 1, None, c.pointer(metadata))
            frame = Frame(c.sizeof(Frame), c.addressof(extension))
            self.assertIsNone(handler(platform)(c.byref(frame)))
            self.assertEqual((metadata.version.major, metadata.version.minor, metadata.traits), (0, 4, 0))

    def test_values(self):
        for n in (1, 2, 3, 8, 17):
            for single in (False, True):
                wide, real = ("complex64", "float32") if single else ("complex128", "float64")
                tolerance = {"rtol": 1e-4, "atol": 1e-4} if single else {"rtol": 1e-12, "atol": 1e-12}
                x, r = samples((3, 4, n), wide), samples((3, 4, n), real)
                y = np.empty_like(x)
                self.assertIsNone(call(x, y, scale=0.5))
                np.testing.assert_allclose(y, np.fft.fft(x) * 0.5, **tolerance)
                self.assertIsNone(call(x, y, kind=1, count=2))
                np.testing.assert_allclose(y, np.fft.ifftn(x, axes=(1, 2)) * 4 * n, **tolerance)
                h = np.empty((3, 4, n // 2 + 1), wide)
                self.assertIsNone(call(r, h, kind=2, length=n, count=2))
                np.testing.assert_allclose(h, np.fft.rfft2(r), **tolerance)
                back = np.empty_like(r)
                self.assertIsNone(call(h, back, kind=3, length=n, count=2, scale=1.0 / (4 * n)))
                np.testing.assert_allclose(back, r, **tolerance)
                self.assertIsNone(call(r, back, kind=4, real_kinds=[4]))
                np.testing.assert_allclose(back, ridge.fft.dct(r), **tolerance)
                z = x.copy()
                self.assertIsNone(call(z, z))  # input_output_aliases
                np.testing.assert_allclose(z, np.fft.fft(x), **tolerance)

    def test_adjoints(self):
        for n in (1, 2, 3, 8, 17):
            x, r, h = samples((3, 4, n), "complex128"), samples((3, 4, n), "float64"), samples((3, 4, n // 2 + 1), "complex128")
            for kind, a, b in ((0, x, x[::-1].copy()), (1, x, x[::-1].copy()), (2, r, h), (3, h, r), (4, r, r[::-1].copy())):
                image, back = np.empty_like(b), np.empty_like(a)
                how = {"kind": kind, "count": 2, "length": n, "scale": 0.7, "real_kinds": [5, 8] if kind == 4 else []}
                self.assertIsNone(call(a, image, **how))
                self.assertIsNone(call(b, back, adjoint=1, **how))
                self.assertLess(abs(np.vdot(b, image).real - np.vdot(back, a).real), 1e-11 * max(1, np.linalg.norm(image)) * np.linalg.norm(b))

    def test_refusals_write_nothing(self):
        x = samples((4, 8), "complex128")
        for how, out, wanted in (({"kind": 7}, x, "kind must be 0 to 4"), ({"count": 3}, x, "count must be"), ({"count": 0}, x, "count must be"),
                                 ({"leave_out": "scale"}, x, "scale is missing"), ({"scale": 1}, x, "must be a float64"),
                                 ({}, samples((4, 8), "complex64"), "types"), ({}, samples((4, 7), "complex128"), "shapes"),
                                 ({}, samples((8,), "complex128"), "numbers of axes"), ({"kind": 3}, samples((4, 9), "float64"), "halved"),
                                 ({"kind": 2}, x, "types"), ({"kind": 2.0}, x, "int64")):
            out = out.copy()
            before = out.copy()
            code, message = call(x, out, **how)
            self.assertEqual(code, 3)
            self.assertIn(wanted, message)
            np.testing.assert_array_equal(out, before)
        code, message = call(samples((4,), "float64"), samples((4,), "float64"), kind=4)
        self.assertIn("one real kind per", message)
        out = np.zeros_like(x)
        self.assertIsNone(call(x, out, stage=1))  # other stages do nothing
        self.assertFalse(out.any())


class HandlerOnCuda(unittest.TestCase):
    def test_refusals_before_the_device(self):
        x = samples((2, 2, 2, 2), "complex128")
        code, message = call(x, x.copy(), platform="CUDA", count=4)
        self.assertEqual(code, 3)
        self.assertIn("at most three axes, got 4", message)

    @unittest.skipIf(any(d["id"] == "cuda:0" for d in ridge.devices()), "has a CUDA device")
    def test_without_a_device(self):
        for kind, dtype in ((0, "complex64"), (4, "float32")):  # both get as far as the device
            x = samples((2, 8), dtype)
            code, message = call(x, x.copy(), platform="CUDA", kind=kind, real_kinds=[4] if kind == 4 else [])
            self.assertIn("cuda:0", message)

    @unittest.skipUnless(any(d["id"] == "cuda:0" for d in ridge.devices()), "needs a CUDA device")
    def test_same_as_on_the_host(self):
        """Every kind and its adjoint on two axes, in place too where the shapes allow it."""
        driver = c.CDLL("libcuda.so.1")
        for n in (5, 8):
            x, r, h = samples((3, 4, n), "complex128"), samples((3, 4, n), "float64"), samples((3, 4, n // 2 + 1), "complex128")
            for kind, a, b in ((0, x, x), (1, x, x), (2, r, h), (3, h, r), (4, r, r)):
                how = {"kind": kind, "count": 2, "length": n, "scale": 0.7, "real_kinds": [5, 8] if kind == 4 else []}
                for adjoint, given, like in ((0, a, b), (1, b, a)):
                    want = np.empty_like(like)
                    self.assertIsNone(call(given, want, adjoint=adjoint, **how))
                    for in_place in (False, True) if a is b else (False,):
                        there = ridge.array(given, "cuda:0")
                        out = there if in_place else ridge.array(np.zeros_like(want), "cuda:0")
                        addresses = [y.__cuda_array_interface__["data"][0] for y in (there, out)]
                        self.assertIsNone(call(given, want, platform="CUDA", addresses=addresses, adjoint=adjoint, **how))
                        driver.cuCtxSynchronize()
                        np.testing.assert_allclose(out.numpy(), want, rtol=1e-11, atol=1e-11, err_msg=f"{how} {adjoint} {in_place}")


class Parts(unittest.TestCase):
    def test_more_than_three_axes(self):
        """Operators over parts of the axes, one after another, are the operator over all."""
        from ridge import _transforms
        z, r, h = samples((2, 3, 2, 3, 5), "complex128"), samples((2, 3, 2, 3, 5), "float64"), samples((2, 3, 2, 3, 3), "complex128")
        axes = [0, 1, 2, 3, 4]
        for kind, a, b in ((0, z, z), (1, z, z), (2, r, h), (3, h, r), (4, r, r)):
            kinds = [4, 5, 7, 8, 9] if kind == 4 else []
            for adjoint, given, like in ((False, a, b), (True, b, a)):
                want, got = np.empty_like(like), given
                _ridge.transform(given, want, kind, axes, kinds, 0.5, 1, adjoint)
                steps = _transforms.parts(kind, axes, kinds, 5, 0.5, adjoint)
                self.assertEqual([len(step[1]) for step in steps].count(3), 1)
                for some_kind, some, some_kinds, length, scale in steps:
                    shape, out = list(got.shape), got.dtype
                    if some_kind in (2, 3):
                        shape[some[-1]], out = (length, "float64") if (some_kind == 3) != adjoint else (length // 2 + 1, "complex128")
                    result = np.empty(shape, out)
                    _ridge.transform(got, result, some_kind, some, some_kinds, scale, 1, adjoint)
                    got = result
                np.testing.assert_allclose(got, want, atol=1e-12)


MODES = {1: (7,), 2: (6, 5), 3: (4, 3, 5)}


def nonuniform_arrays(axes, kind, sets=2, dtype="complex128"):
    real = "float32" if dtype == "complex64" else "float64"
    points, targets = (random.uniform(-3, 3, (axes, n)).astype(real) for n in (9, 8))
    data = samples((sets,) + (MODES[axes] if kind == 2 else (9,)), dtype)
    shape = (sets,) + (MODES[axes] if kind == 1 else (9,) if kind == 2 else (8,))
    return (data, points) + ((targets,) if kind == 3 else ()), shape


def nonuniform_sum(axes, kind, sign, order, data, points, *targets):
    if kind == 3:
        return data @ np.exp(1j * sign * np.einsum("ak,aj->jk", targets[0], points))
    k = [np.arange(-(n // 2), (n + 1) // 2) for n in MODES[axes]]
    k = [np.roll(f, -(len(f) // 2)) if order else f for f in k]
    a = np.exp(1j * sign * np.einsum("ak,aj->kj", np.stack(np.meshgrid(*k, indexing="ij")).reshape(axes, -1), points))
    return (data @ a.T).reshape(-1, *MODES[axes]) if kind == 1 else data.reshape(len(data), -1) @ a


class NonuniformHandler(unittest.TestCase):
    def test_values(self):
        for axes in (1, 2, 3):
            for kind in (1, 2, 3):
                for dtype, eps in (("complex64", 1e-5), ("complex128", 1e-12)):
                    for sign, order in ((1, 0), (-1, 1)):
                        arrays, shape = nonuniform_arrays(axes, kind, dtype=dtype)
                        out = np.full(shape, np.nan, dtype)
                        self.assertIsNone(call(arrays, out, nonuniform=True, type=kind, sign=sign, order=order, eps=eps))
                        want = nonuniform_sum(axes, kind, sign, order, *(x.astype(complex if x.dtype.kind == "c" else float) for x in arrays))
                        # So few points may exceed eps: of 60 seeds the worst has 1.94 eps.
                        self.assertLessEqual(np.linalg.norm(out - want), 4 * eps * np.linalg.norm(want), (axes, kind, dtype))

    def test_refusals_write_nothing(self):
        (data, points), shape = nonuniform_arrays(2, 1)
        good = {"type": 1, "sign": 1, "order": 0, "eps": 1e-9}
        for arrays, change, wanted in (((data, points), {"type": 4}, "type must be 1, 2 or 3, got 4"), ((data,), {}, "needs 2 arguments"),
                                       ((data, points), {"type": 3}, "needs 3 arguments"), ((data, points), {"eps": 1}, "eps must be a float64"),
                                       ((data, points), {"eps": 1e-20}, "epsilon"), ((data, points[:, 1:].copy()), {}, "do not fit"),
                                       ((data, points[:1].copy()), {}, "do not fit"), ((data[:1].copy(), points), {}, "number of sets"),
                                       ((data, points.astype(np.float32)), {}, "real type of the data"), ((data.real.copy(), points), {}, "complex type"),
                                       ((data, points * np.nan), {}, "nan"), ((data, points[0]), {}, r"(axes, count)")):
            out = np.zeros(shape, complex)
            code, message = call(arrays, out, nonuniform=True, **{**good, **change})
            self.assertEqual(code, 3)
            self.assertIn(wanted, message)
            self.assertFalse(out.any())
        out = np.zeros(shape, complex)
        self.assertIsNone(call((data, points), out, nonuniform=True, **good))  # keeps a plan, whose key equals no NaN
        self.assertTrue(out.any())
        for eps in (float("nan"), 0.0, -1e-9):
            out = np.zeros(shape, complex)
            code, message = call((data, points), out, nonuniform=True, **{**good, "eps": eps})
            self.assertEqual(code, 3)
            self.assertIn("eps", message)
            self.assertNotIn("ridge_fft", message)
            self.assertFalse(out.any())

    def test_without_points(self):
        (data, points), shape = nonuniform_arrays(2, 1)
        out = np.ones(shape, complex)
        self.assertIsNone(call((data[:, :0].copy(), points[:, :0].copy()), out, nonuniform=True, type=1, sign=1, order=0, eps=1e-9))
        self.assertFalse(out.any())
        none = np.zeros((shape[0], 0), complex)
        modes = np.ones(shape, complex)
        self.assertIsNone(call((modes, points[:, :0].copy()), none, nonuniform=True, type=2, sign=1, order=0, eps=1e-9))


class NonuniformOnCuda(unittest.TestCase):
    @unittest.skipIf(any(d["id"] == "cuda:0" for d in ridge.devices()), "has a CUDA device")
    def test_without_a_device(self):
        arrays, shape = nonuniform_arrays(2, 1)
        code, message = call(arrays, np.zeros(shape, complex), platform="CUDA", nonuniform=True, type=1, sign=1, order=0, eps=1e-9)
        self.assertIn("cuda:0", message)

    @unittest.skipUnless(any(d["id"] == "cuda:0" for d in ridge.devices()), "needs a CUDA device")
    def test_values(self):
        from foreign_memory import CudaMemory
        driver = c.CDLL("libcuda.so.1")
        for axes in (1, 2, 3):
            for kind in (1, 2, 3):
                for dtype, eps in (("complex64", 1e-5), ("complex128", 1e-10)):
                    arrays, shape = nonuniform_arrays(axes, kind, dtype=dtype)
                    out = np.full(shape, np.nan, dtype)
                    memory = [CudaMemory(x.nbytes) for x in (*arrays, out)]
                    for there, x in zip(memory, arrays):
                        there.put(x)
                    addresses = [there.address for there in memory]
                    self.assertIsNone(call(arrays, out, platform="CUDA", addresses=addresses, nonuniform=True, type=kind, sign=-1, order=0, eps=eps))
                    driver.cuCtxSynchronize()
                    got = memory[-1].get(np.empty_like(out))
                    want = nonuniform_sum(axes, kind, -1, 0, *(x.astype(complex if x.dtype.kind == "c" else float) for x in arrays))
                    self.assertLessEqual(np.linalg.norm(got - want), 4 * eps * np.linalg.norm(want), (axes, kind, dtype))


def rules_without_jax():
    """ridge._jax_nufft over NumPy: a stand-in for JAX whose primitive calls the handler. Its rules are functions of arrays."""
    import types
    jax_, interpreters, extend = types.ModuleType("jax"), types.ModuleType("jax.interpreters"), types.ModuleType("jax.extend")
    core, ffi = types.ModuleType("jax.extend.core"), types.ModuleType("jax.ffi")
    ad, batching, mlir = (types.SimpleNamespace() for _ in range(3))

    class Primitive:
        def __init__(self, name):
            self.name = name

        def def_impl(self, function):
            self.run = function

        def def_abstract_eval(self, function):
            self.abstract = function

        def bind(self, *operands, kind, modes, sign, order, eps):
            operands = tuple(np.ascontiguousarray(x) for x in operands)
            out = np.full(made._shape(*operands, kind=kind, modes=modes), np.nan, operands[0].dtype)
            failed = call(operands, out, nonuniform=True, type=kind, sign=sign, order=order, eps=eps)
            if failed:
                raise ValueError(failed[1])
            return out

    def map_(function, operands):
        return np.stack([function([x[i] for x in operands]) for i in range(len(operands[0]))])
    core.Primitive = Primitive
    ad.Zero = type("Zero", (), {"__init__": lambda self, aval=None: None})
    ad.primitive_jvps, ad.primitive_transposes, batching.primitive_batchers = {}, {}, {}
    mlir.lower_fun, mlir.register_lowering = (lambda *_, **__: None), (lambda *_, **__: None)
    interpreters.ad, interpreters.batching, interpreters.mlir = ad, batching, mlir
    jax_.numpy, jax_.ffi, jax_.lax = np, ffi, types.SimpleNamespace(map=map_)
    jax_.compiled = []
    jax_.jit = lambda function, **_: jax_.compiled.append(function) or function
    jax_.ShapeDtypeStruct = np.empty
    ffi.ffi_call = lambda name, shape: lambda *operands, **how: shape
    stand_in = {"jax": jax_, "jax.numpy": np, "jax.interpreters": interpreters, "jax.extend": extend, "jax.extend.core": core, "jax.ffi": ffi}
    import importlib
    sys.modules.update(stand_in)
    try:
        made = importlib.import_module("ridge._jax_nufft")
    finally:
        for name in stand_in:
            del sys.modules[name]
    return made


@unittest.skipIf(jax is not None, "JAX itself is tested below")
class NonuniformRules(unittest.TestCase):
    def setUp(self):
        self.rules = rules_without_jax()

    def cases(self):
        for axes in (1, 2, 3):
            for kind in (1, 2, 3):
                arrays, shape = nonuniform_arrays(axes, kind)
                yield arrays, shape, {"kind": kind, "modes": () if kind == 3 else MODES[axes], "sign": -1, "order": axes % 2, "eps": 1e-13}

    def test_derivatives_are_differences(self):
        zero = self.rules._ad.Zero()
        for arrays, _, how in self.cases():
            run = lambda *x: self.rules._nonuniform_p.bind(*x, **how)  # noqa: E731
            for moved in ([True] * len(arrays), *np.eye(len(arrays), dtype=bool)):
                tangents = [samples(x.shape, x.dtype) if m else zero for x, m in zip(arrays, moved)]
                value, got = self.rules._jvp(arrays, tangents, **how)
                np.testing.assert_allclose(value, run(*arrays), atol=1e-10)
                step = 1e-4
                ends = [run(*(x + s * step * d if m else x for x, d, m in zip(arrays, tangents, moved))) for s in (-2, -1, 1, 2)]
                want = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
                self.assertLessEqual(np.linalg.norm(got - want), 1e-8 * np.linalg.norm(want), (how, moved))

    def test_transposes(self):
        for arrays, shape, how in self.cases():
            g = samples(shape, "complex128")
            back, *rest = self.rules._transpose(g, None, *arrays[1:], **how)
            self.assertEqual(rest, [None] * (len(arrays) - 1))
            left, right = np.sum(g * self.rules._nonuniform_p.bind(*arrays, **how)), np.sum(back * arrays[0])  # without conjugates
            self.assertLessEqual(abs(left - right), 1e-10 * abs(left))

    def test_batches(self):
        for arrays, _, how in self.cases():
            run = lambda *x: self.rules._nonuniform_p.bind(*x, **how)  # noqa: E731
            more = np.stack([arrays[0], 2j * arrays[0], arrays[0] ** 2], axis=1)
            got, axis = self.rules._batch([more, *arrays[1:]], [1] + [None] * (len(arrays) - 1), **how)
            want = np.stack([run(more[:, i], *arrays[1:]) for i in range(3)])
            np.testing.assert_allclose(np.moveaxis(got, axis, 0), want, atol=1e-10)
            points = np.stack([arrays[1], arrays[1] / 2])
            got, axis = self.rules._batch([arrays[0], points, *arrays[2:]], [None, 0] + [None] * (len(arrays) - 2), **how)
            want = np.stack([run(arrays[0], p, *arrays[2:]) for p in points])
            np.testing.assert_allclose(np.moveaxis(got, axis, 0), want, atol=1e-10)

    def test_calls_outside_jit_share_one_compiled_function(self):
        for arrays, shape, how in self.cases():
            for _ in range(2):
                self.assertEqual(self.rules._nonuniform_p.run(*arrays, **how).shape, shape)
        self.assertEqual(len(self.rules._jax.compiled), 1)

    def test_functions(self):
        x, y, c = random.uniform(-3, 3, 9), random.uniform(-3, 3, 9), samples((4, 3, 9), "complex128")
        got = self.rules.nufft2d1(x, y, c, (6, 5), eps=1e-12)
        self.assertEqual(got.shape, (4, 3, 6, 5))
        want = nonuniform_sum(2, 1, 1, 0, c.reshape(12, 9), np.stack([x, y])).reshape(4, 3, 6, 5)
        np.testing.assert_allclose(got, want, atol=1e-10)
        np.testing.assert_allclose(self.rules.nufft2d2(x, y, got, eps=1e-12),
                                   nonuniform_sum(2, 2, -1, 0, got.reshape(12, 6, 5), np.stack([x, y])).reshape(4, 3, 9), atol=1e-9)
        with self.assertRaisesRegex(ValueError, "one strength per point, 9, got 8"):
            self.rules.nufft2d1(x, y, c[..., 1:], 6)


@unittest.skipIf(jax is None, "needs JAX")
class Jax(unittest.TestCase):
    def test_nonuniform(self):
        import ridge.jax as ours
        from jax.test_util import check_grads
        jax.config.update("jax_default_device", jax.devices("cpu")[0])
        self.addCleanup(jax.config.update, "jax_default_device", None)
        for axes in (1, 2, 3):
            for kind in (1, 2, 3):
                (data, points, *targets), _ = nonuniform_arrays(axes, kind, sets=1)
                function = getattr(ours, f"nufft{axes}d{kind}")

                def run(data, points, *targets):
                    more = (MODES[axes],) if kind == 1 else tuple(targets[0]) if kind == 3 else ()
                    return function(*points, data, *more, eps=1e-13)
                want = nonuniform_sum(axes, kind, -1 if kind == 2 else 1, 0, data, points, *targets)[0]
                np.testing.assert_allclose(jax.jit(run)(data[0], points, *targets), want, atol=1e-10)
                if axes < 3:
                    check_grads(run, (data[0], points, *targets), order=2, atol=1e-3, rtol=1e-3)
        many = jax.vmap(lambda x: ours.nufft1d1(x, data[0], 6))(jax.numpy.stack([points[0], points[1]]))
        np.testing.assert_allclose(many[1], ours.nufft1d1(points[1], data[0], 6), atol=1e-10)

    def test_calls_outside_jit_are_compiled_once(self):
        import ridge.jax as ours
        from ridge import _jax_nufft
        x, points = samples((4, 6), "complex128"), random.uniform(-3, 3, 6)
        with jax.default_device(jax.devices("cpu")[0]):  # nufft1d1 is for the host
            for eager, run in ((ours._eager, lambda k: ours.fft(x * k)), (_jax_nufft._eager, lambda k: ours.nufft1d1(points * k, x[0], 5))):
                run(1.0)
                held = eager._cache_size()
                run(0.5)
                self.assertEqual(eager._cache_size(), held)

    def test_transformations(self):
        import ridge.jax as ours
        from jax.test_util import check_grads
        cases = [(ours.fft, jax.numpy.fft.fft, "c"), (ours.ifft, jax.numpy.fft.ifft, "c"), (ours.rfft, jax.numpy.fft.rfft, "f"),
                 (ours.irfft, jax.numpy.fft.irfft, "c"), (lambda x: ours.fftn(x, axes=(0, 2)), lambda x: jax.numpy.fft.fftn(x, axes=(0, 2)), "c"),
                 (ours.rfft2, jax.numpy.fft.rfft2, "f"), (ours.hfft, jax.numpy.fft.hfft, "c")]
        for f, g, kind in cases:
            for n in (5, 8):
                x = jax.numpy.asarray(samples((2, 3, n), "complex128" if kind == "c" else "float64"))
                want = g(x)
                np.testing.assert_allclose(f(x), want, atol=1e-12)
                np.testing.assert_allclose(jax.jit(f)(x), want, atol=1e-12)
                power = lambda h: lambda x: (abs(h(x)) ** 2).sum()  # noqa: E731
                np.testing.assert_allclose(jax.jit(jax.grad(power(f)))(x), jax.jit(jax.grad(power(g)))(x), atol=1e-9)
                if (n == 5) != (f in (ours.ifft, ours.irfft)):  # XLA compiles every function of every shape
                    continue
                if f in (ours.fft, ours.rfft, ours.irfft):
                    check_grads(f, (x,), order=2)
                many = jax.numpy.stack([x, 2 * x])
                np.testing.assert_allclose(jax.vmap(jax.grad(power(f)))(many), jax.jit(jax.vmap(jax.grad(power(g))))(many), atol=1e-9)
        x = jax.numpy.asarray(samples((6,), "float64"))
        loss = lambda h: lambda x: (abs(h(x)) ** 4).sum()  # noqa: E731
        np.testing.assert_allclose(jax.hessian(loss(ours.rfft))(x), jax.hessian(loss(jax.numpy.fft.rfft))(x), rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(ours.dct(x), ridge.fft.dct(np.asarray(x)), atol=1e-12)
        check_grads(ours.dct, (x,), order=2)
        many = jax.numpy.asarray(samples((2, 3, 2, 3, 4), "float64"))
        np.testing.assert_allclose(ours.dstn(many, norm="ortho"), ridge.fft.dstn(np.asarray(many), norm="ortho"), atol=1e-12)
        np.testing.assert_allclose(ours.rfftn(many), ridge.fft.rfftn(np.asarray(many)), atol=1e-12)
        np.testing.assert_allclose(ours.irfftn(ours.rfftn(many)), many, atol=1e-12)
        late = jax.jit(lambda x: sum(jax.numpy.sin(ours.fft(x * i).real) for i in range(6)))  # long enough for a CUDA graph
        for _ in range(3):
            np.testing.assert_allclose(late(x), sum(np.sin(np.fft.fft(np.asarray(x) * i).real) for i in range(6)), atol=1e-9)
        self.assertIsInstance(ridge.fft.fft(x), jax.Array)


if __name__ == "__main__":
    unittest.main()
