import numpy as np
from ridge import filterbank

channels, taps, stations = 64, 8, 2
bank = filterbank.plan(channels, taps, stations=stations, polarizations=1, samples="int8")
print("leakage beyond 1.5 channels:", round(filterbank.quality(bank.weights, channels)["leakage_db"]), "dB")

# The sky: both telescopes receive a spectral line at channel 20, each with its own noise.
random, times = np.random.default_rng(9), 4096
n = np.arange(times * channels)
line = 3 * np.exp(2j * np.pi * 20 / channels * n)
heard = [line + 8 * (random.standard_normal(n.size) + 1j * random.standard_normal(n.size)) for _ in range(stations)]
samples = np.stack(heard).reshape(stations, times, channels).swapaxes(0, 1)          # block, station, sample
packed = np.ascontiguousarray(np.stack([samples.real, samples.imag], -1).round().clip(-127, 127).astype(np.int8))

# The samples arrive in pieces of any size, as from a network.
stream, correlator, spectra = bank.stream(), bank.correlator(times=times), []
data = packed.tobytes()
for begin in range(0, len(data), 100_001):
    spectra.append(stream.push(data[begin:begin + 100_001]))
visibilities = correlator.push(np.concatenate(spectra))

one, pair = np.abs(visibilities[0, 0, :, 0, 0]), np.abs(visibilities[0, 1, :, 0, 0])
print("channel of the line:", int(pair.argmax()))
print("alone it is", round(float(one[20] / np.median(one)), 1), "times above the noise, correlated",
      "more than 20 times:", bool(pair[20] / np.median(pair) > 20))
