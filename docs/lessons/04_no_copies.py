import numpy as np
import ridge

cube = np.random.default_rng(4).standard_normal((30, 40, 50)).astype(np.complex64)

along_first = ridge.fft.fft(cube, axis=0)              # a stride of 2000 elements, without a copy
backwards = ridge.fft.fft(cube[:, ::-2, :], axis=1)    # every second column, in reverse order
whole = ridge.fft.fftn(cube)                           # three axes at once

print(np.allclose(along_first, np.fft.fft(cube, axis=0), atol=1e-4),
      np.allclose(backwards, np.fft.fft(cube[:, ::-2, :], axis=1), atol=1e-4),
      np.allclose(whole, np.fft.fftn(cube), rtol=1e-3, atol=1e-2))

before = cube.ctypes.data
result = ridge.fft.fft(cube, overwrite_x=True)         # may overwrite its input: no new memory
print("the same memory:", result.ctypes.data == before)
