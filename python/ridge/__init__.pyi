from . import fft as fft, filterbank as filterbank, image as image, nufft as nufft, planner as planner, sar as sar, \
    search as search, stencil as stencil
from .array import Array as Array, array as array, asarray as asarray, empty as empty, from_dlpack as from_dlpack
from ._array_api import array_api as array_api
from ._machine import Machine as Machine, device_memory as device_memory, devices as devices, set_device_memory as set_device_memory, \
    machine as machine

def wisdom() -> list[tuple[str, str, str, str, float]]: ...
def forget_wisdom(workload: str = ...) -> int: ...

__version__: str
