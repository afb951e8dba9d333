"""Arrays in memory of other libraries, made with ctypes only: DLPack capsules and __cuda_array_interface__."""
import ctypes


class _Tensor(ctypes.Structure):
    """DLManagedTensor, as in dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("axes", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class HostMemory:
    device, dlpack = "host", 1

    def __init__(self, size):
        self._bytes = ctypes.create_string_buffer(size + 64)
        self.address = (ctypes.addressof(self._bytes) + 63) // 64 * 64

    def put(self, array):
        ctypes.memmove(self.address, array.ctypes.data, array.nbytes)

    def get(self, array):
        ctypes.memmove(array.ctypes.data, self.address, array.nbytes)
        return array


class CudaMemory:
    """Calls the CUDA driver as another library would, in the primary context."""
    device, dlpack = "cuda:0", 2

    def __init__(self, size):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        context, address = ctypes.c_void_p(), ctypes.c_uint64()
        for status in (self._cuda.cuInit(0), self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                       self._cuda.cuCtxSetCurrent(context), self._cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))):
            assert status == 0, status
        self.address = address.value

    def put(self, array):
        assert self._cuda.cuMemcpyHtoD_v2(ctypes.c_uint64(self.address), ctypes.c_void_p(array.ctypes.data),
                                          ctypes.c_size_t(array.nbytes)) == 0
        assert self._cuda.cuCtxSynchronize() == 0  # small copies may be asynchronous, and other queues do not wait for them

    def get(self, array):
        assert self._cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(self.address),
                                          ctypes.c_size_t(array.nbytes)) == 0
        return array


class CudaArray:
    """CUDA memory with the interface of CuPy, Numba and PyTorch arrays."""

    def __init__(self, array, offset=0):
        """offset: bytes before the array, in memory aligned to 256 bytes."""
        self.memory = CudaMemory(max(1, array.nbytes) + offset)
        self.memory.address += offset
        self.memory.put(array)
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (self.memory.address, False),
                                         "version": 3, "strides": None, "stream": None}


class Producer:
    """Exports an array as a DLPack capsule, as array libraries do."""

    def __init__(self, memory, shape, code, bits, deleted):
        self._memory, self._shape = memory, (ctypes.c_int64 * len(shape))(*shape)
        self._delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: deleted.append(1))
        self._tensor = _Tensor(memory.address, memory.dlpack, 0, len(shape), code, bits, 1, self._shape, None, 0, None,
                               ctypes.cast(self._delete, ctypes.c_void_p))
        _kept.append(self)

    def __dlpack_device__(self):
        return self._memory.dlpack, 0

    def __dlpack__(self, stream=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


_kept = []  # keeps the memory that capsules refer to
