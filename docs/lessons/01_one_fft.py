import numpy as np
import ridge

rate = 8000                                        # samples per second
t = np.arange(rate) / rate                         # time of each sample, in seconds
sound = np.sin(2 * np.pi * 440 * t) + 0.5 * np.sin(2 * np.pi * 1000 * t)

spectrum = ridge.fft.rfft(sound)
loudness = 2 * np.abs(spectrum) / rate             # amplitude of each tone
for hertz in np.flatnonzero(loudness > 0.1):
    print(f"{hertz} Hz, amplitude {loudness[hertz]:.2f}")

back = ridge.fft.irfft(spectrum, n=rate)
print("the inverse transform restores the sound:", np.allclose(back, sound))
