import numpy as np
from ridge import search

random = np.random.default_rng(1)
stations = np.column_stack([random.uniform(-50, 50, (16, 2)), np.zeros(16)])      # metres east, north, up
source = np.array([0.2, -0.1, np.sqrt(1 - 0.2**2 - 0.1**2)])                      # direction, a unit vector
others = [[x, 0.1, np.sqrt(1 - x * x - 0.01)] for x in (-0.4, 0.0, 0.4)]

mhz = 150.0
ahead = np.exp(2j * np.pi * mhz * 1e6 * (stations @ source) / 299792458)          # phase of the wave at each station
wave, noise = (random.standard_normal((4096, n)) + 1j * random.standard_normal((4096, n)) for n in (1, 16))
voltages = (0.3 * wave * ahead + noise).astype(np.complex64)[None]                # (channels, times, stations)

weights = search.beam_weights(stations, [source, *others], mhz)
power = search.beamform(voltages, weights, integrate=4096)[0, :, 0] / (2 * 4096)
print("power towards the source", f"{power[0]:.2f}", "and elsewhere", " ".join(f"{p:.2f}" for p in power[1:]))
