"""DLPack's C exchange table for tensors on the CPU, as PyTorch from 2.10 on has it, over any PyTorch."""
import ctypes as c

import torch

TYPES = {torch.float32: (2, 32), torch.float64: (2, 64), torch.complex64: (5, 64), torch.complex128: (5, 128)}


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", c.c_int32 * 2), ("axes", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8),
                ("lanes", c.c_uint16), ("shape", c.c_void_p), ("strides", c.c_void_p), ("offset", c.c_uint64)]


DESCRIBE = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(Tensor))
STREAM = c.PYFUNCTYPE(c.c_int, c.c_int32, c.c_int32, c.POINTER(c.c_void_p))


class Table(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("previous", c.c_void_p), ("allocate", c.c_void_p), ("share", c.c_void_p),
                ("wrap", c.c_void_p), ("describe", DESCRIBE), ("stream", STREAM)]


_kept, _tables = [], []


def capsule(major=1):
    """The capsule, and a list of the tensors that were described."""
    described = []

    def describe(x, out):
        described.append(tuple(x.shape))
        numbers = (c.c_int64 * max(x.ndim, 1))(*x.shape), (c.c_int64 * max(x.ndim, 1))(*x.stride())
        _kept.append(numbers)
        del _kept[:-64]
        t = out.contents
        t.data, t.axes, t.lanes, t.offset = x.data_ptr(), x.ndim, 1, 0
        t.code, t.bits = TYPES.get(x.dtype, (0, 8 * x.element_size()))
        t.device[0], t.device[1] = 1, 0
        t.shape, t.strides = (c.addressof(n) for n in numbers)
        return 0
    table = Table(major, 3, None, None, None, None, DESCRIBE(describe), STREAM(lambda type_, device, out: 0))
    name = b"dlpack_exchange_api"
    made = c.pythonapi.PyCapsule_New
    made.restype, made.argtypes = c.py_object, (c.c_void_p, c.c_char_p, c.c_void_p)
    _tables.append((table, name))
    return made(c.addressof(table), name, None), described


