"""Arrays in device memory, and exchange with other libraries by DLPack and __cuda_array_interface__."""
import numpy as np

from . import _ridge

__all__ = ["Array", "array", "empty", "asarray", "from_dlpack"]


class Array:
    """A contiguous array on a device. Other libraries read it without a copy (DLPack; on CUDA also the array interface).

    >>> import ridge
    >>> a = ridge.array(np.arange(6, dtype=np.float32).reshape(2, 3), "host")
    >>> a.shape, a.dtype, a.device
    ((2, 3), dtype('float32'), 'host')
    >>> np.from_dlpack(a)[1, 2]                      # no copy
    5.0
    """

    __array_priority__ = 1000

    def __init__(self, held):
        self._held = held

    @property
    def shape(self):
        return self._held.shape()

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def dtype(self):
        return np.dtype(self._held.dtype())

    @property
    def device(self):
        """The device of its memory: "host", "opencl:0", "cuda:0"."""
        return self._held.device()

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    def numpy(self, out=None):
        """A copy in host memory, in `out` or in a new array."""
        out = np.empty(self.shape, self.dtype) if out is None else out
        self._held.download(out)
        return out

    @property
    def read_only(self):
        """True if another library's array was exported without write access."""
        return self._held.read_only()

    def __reduce__(self):
        return array, (self.numpy(), self.device)

    def __array_function__(self, function, types, args, kwargs):
        """numpy.fft's functions are Ridgeline's; NumPy's other functions see an array on the host."""
        from . import fft
        own = getattr(fft, function.__name__, None) if function.__module__.startswith("numpy.fft") else None
        if own is not None:
            return own(*args, **kwargs)
        return function(*map(_on_host, args), **{key: _on_host(value) for key, value in kwargs.items()})

    def set(self, values):
        """Copies an array of the same shape and type into this one."""
        self._held.upload(np.ascontiguousarray(values))

    def __array__(self, dtype=None, copy=None):
        if self.device != "host":
            raise TypeError(f"this array is on {self.device}: call numpy() for a copy on the host")
        view = np.from_dlpack(self) if not self.read_only else self.numpy()
        dtype = view.dtype if dtype is None else np.dtype(dtype)
        if copy is False and dtype != view.dtype:
            raise ValueError(f"converting {view.dtype} to {dtype} needs a copy, and copy=False was given")
        return view.astype(dtype, copy=bool(copy))

    def __dlpack__(self, stream=None, *, max_version=None, dl_device=None, copy=None):
        here = self.__dlpack_device__()
        wanted = here if dl_device is None else tuple(int(i) for i in dl_device)
        if here[0] == 1 and stream is not None:
            raise ValueError(f"a host array has no stream: pass stream=None, got {stream!r}")
        if wanted not in (here, (1, 0)):
            raise BufferError(f"the array is on {self.device} and cannot be exported to device {wanted}")
        if wanted != here and copy is False:
            raise ValueError(f"the array is on {self.device}: exporting it to the host needs a copy, and copy=False was given")
        exported, copied = self, False
        if wanted != here:
            exported, copied = array(self.numpy()), True
        elif copy:
            exported, copied = array(self.numpy(), self.device), True
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        # Every call that writes waits for the device, so the values are valid on any stream.
        return exported._held.to_dlpack(versioned, copied)

    def __dlpack_device__(self):
        return self._held.dlpack_device()

    @property
    def __cuda_array_interface__(self):
        if not self.device.startswith("cuda"):
            raise AttributeError(f"an array on {self.device} has no __cuda_array_interface__")
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._held.address(), False), "version": 3,
                "strides": None, "stream": None}

    def __repr__(self):
        return f"<ridge.Array {self.shape} of {self.dtype} on {self.device}>"


def _on_host(value):
    """Replaces arrays, also those in lists and tuples, by views of NumPy's."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_on_host, value))
    return np.asarray(value) if isinstance(value, Array) else value


def device_name(device):
    """The name of a device argument: None is the host."""
    if device is None:
        return "host"
    if not isinstance(device, str):
        raise TypeError(f'device must be a name such as "cuda:0" (ridge.devices() lists them), got {device!r}')
    return device


def empty(shape, dtype=np.complex64, device="host"):
    """An uninitialized array on a device."""
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    return Array(_ridge.DeviceArray(device_name(device), np.dtype(dtype).name, [int(n) for n in shape]))


def array(values, device="host"):
    """A copy of an array on a device."""
    values = np.ascontiguousarray(values)
    made = empty(values.shape, values.dtype, device)
    made.set(values)
    return made


def from_dlpack(x):
    """Wraps another library's array without a copy: host or CUDA memory, contiguous.

    >>> import ridge
    >>> x = np.zeros(4, np.float32)
    >>> y = ridge.from_dlpack(x)
    >>> x[2] = 7
    >>> y.numpy()
    array([0., 0., 7., 0.], dtype=float32)
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{type(x).__name__} has no __dlpack__")
    kind, _ = x.__dlpack_device__()
    # On CUDA the producer makes the legacy default stream wait for the data; wait for that stream.
    stream = {"stream": 1} if kind == 2 else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:  # a library from before DLPack 1.0
        capsule = x.__dlpack__(**stream)
    made = Array(_ridge.DeviceArray.from_dlpack(capsule))
    if kind == 2:
        _ridge.wait_for_stream(made.device, 1)
    return made


def _of_cuda(x):
    """Wraps an object with __cuda_array_interface__ (version 2 or 3)."""
    d = x.__cuda_array_interface__
    dtype, shape = np.dtype(d["typestr"]), tuple(d["shape"])
    if d.get("mask") is not None:
        raise ValueError("masked arrays are not supported")
    strides = d.get("strides")
    step = dtype.itemsize
    for n, stride in zip(reversed(shape), reversed(strides or ())):
        if n > 1 and stride != step:
            raise ValueError("the array must be contiguous: pass a contiguous copy")
        step *= n
    stream = d.get("stream")
    address, _ = d["data"]
    number = getattr(getattr(x, "device", None), "id", 0)
    held = _ridge.DeviceArray(f"cuda:{number if isinstance(number, int) else 0}", dtype.name, [int(n) for n in shape], address, x)
    if stream is not None:
        _ridge.wait_for_stream(held.device(), stream)
    return Array(held)


def asarray(x):
    """x as a ridge.Array: without a copy for a ridge.Array, CUDA array or DLPack tensor, else a copy on the host."""
    if isinstance(x, Array):
        return x
    if hasattr(x, "__cuda_array_interface__"):
        return _of_cuda(x)
    if isinstance(x, np.ndarray) and not x.flags.writeable:
        return array(x)
    if hasattr(x, "__dlpack__"):
        return from_dlpack(x)
    return array(np.asarray(x))
