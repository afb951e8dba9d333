import numpy as np
from ridge import nufft

n, hours = 128, 40                                                              # pixels per side, positions of the Earth
arms = np.exp(2j * np.pi * np.arange(3) / 3)
antennas = np.outer(arms, 1.5 ** np.arange(1, 8)).ravel()                       # three arms of seven antennas, east + i north
first, second = np.triu_indices(21, 1)                                          # every pair is a baseline
turns = np.exp(1j * np.pi * (np.arange(hours) / (hours - 1) - 0.5) / 2)         # six hours under a source at the pole
baselines = np.outer(turns, antennas[second] - antennas[first]).ravel()
baselines *= 2.7 / abs(baselines).max()                                         # radians per pixel
u, v = baselines.real, baselines.imag

stars = [(40, 70, 1.0), (75, 50, 0.5), (90, 98, 0.1)]                           # row, column, flux
visibilities = sum(flux * np.exp(-1j * (v * (row - n // 2) + u * (column - n // 2))) for row, column, flux in stars)

dirty = nufft.nufft2d1(v, u, visibilities, (n, n), eps=1e-9).real / u.size      # type 1: the sky, convolved with the beam
beam = nufft.nufft2d1(v, u, np.ones(u.size), (2 * n, 2 * n), eps=1e-9).real / u.size
lobes = beam.copy()
lobes[n - 3:n + 4, n - 3:n + 4] = 0
print(f"{u.size} visibilities of 21 antennas")
print(f"dirty map: side lobes of {lobes.max():.2f}; {np.sum(dirty > 0.1)} pixels are brighter than the faintest star, 0.1")

model = np.zeros((n, n))
for _ in range(400):                                                            # CLEAN: subtract the beam of the brightest pixel
    row, column = np.unravel_index(dirty.argmax(), dirty.shape)
    flux = 0.1 * dirty[row, column]
    model[row, column] += flux
    dirty -= flux * beam[n - row:2 * n - row, n - column:2 * n - column]
for row, column, flux in stars:
    print(f"star of {flux:.1f} at ({row}, {column}): found {model[row, column]:.3f}")
predicted = nufft.nufft2d2(v, u, model + 0j, eps=1e-9)                          # type 2: what the antennas would measure
print(f"visibilities of the model: off by {np.linalg.norm(predicted - visibilities) / np.linalg.norm(visibilities):.0e}")
