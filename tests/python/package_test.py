"""The package around the transforms: doctests, devices, and that calls leave nothing behind."""
import doctest
import importlib
import resource
import sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import ridge

failed = tried = 0
for name in ("ridge", "ridge.fft", "ridge.machine"):
    result = doctest.testmod(sys.modules.get(name) or importlib.import_module(name))
    failed, tried = failed + result.failed, tried + result.attempted
assert tried > 10, "the doctests were not found"
assert failed == 0

assert ridge.devices()[0]["id"] == "host"
assert isinstance(ridge.wisdom(), list)

# A loop of calls, warm: memory must not grow with their number.
x = np.ones(64, np.complex128)
for _ in range(2000):
    ridge.fft.fft(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(50000):
    ridge.fft.fft(x)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 2048, f"{grown} KiB more after 50000 calls"
print(f"{tried} doctests, {grown} KiB grown")
