import numpy as np
import ridge

n = 1024
tone = np.sin(2 * np.pi * 100.5 * np.arange(n) / n)    # half way between two bins: the worst case
for name, window in (("none", np.ones(n)), ("hann", np.hanning(n)), ("blackman", np.blackman(n))):
    power = np.abs(ridge.fft.rfft(tone * window)) ** 2
    far = power[200:].max() / power.max()
    print(f"{name:9} 100 bins away: {10 * np.log10(far):6.1f} dB")
