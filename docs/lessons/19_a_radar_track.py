import numpy as np
from ridge import sar

radar = sar.Radar(pulses=400, samples=160, pulse_s=1e-6)                # L band: a wavelength of 24 cm
t = np.arange(radar.pulses) / radar.pulses
gusts = np.stack([0.05 * np.cos(12 * t), 0.1 * np.sin(15 * t) + 0.02 * np.sin(40 * t)], axis=1)   # metres along the track, to the scene
places = [(160.5, 49.0, 1.0), (200.25, 64.5, 0.5), (240.75, 80.0, 1.0)]  # pulse and range cell, amplitude
targets = [(pulse * radar.along_cell, radar.near_range_m + cell * radar.range_cell, amplitude) for pulse, cell, amplitude in places]
echoes = radar.simulate(targets, track=gusts)


def report(name, image):
    answers = [radar.measure(image, cell, pulse, reach=8) for pulse, cell, _ in places]
    peaks = ", ".join(f"{answer['peak']:.2f}" for answer in answers)
    print(f"{name:<32} peaks {peaks}; width {answers[1]['along']['width']:.1f} cells")


report("straight line, range-Doppler", radar.focus(echoes))
report("measured track, back-projection", radar.focus(echoes, method="backprojection", track=gusts))
factorized = sar.Backprojection(radar, "factorized", gusts)              # groups of pulses, merged level by level
report("measured track, factorized", factorized(echoes))
estimated = radar.autofocus(echoes)                                      # from the phases of the brightest points
report("estimated track, factorized", radar.focus(echoes, method="factorized", track=estimated))

error = (estimated - gusts)[:, 1]
error -= np.polynomial.Polynomial.fit(t, error, 1)(t)                    # a constant and a trend only move the image
print(f"gusts of {1000 * np.ptp(gusts[:, 1]):.0f} mm; estimated to better than a centimetre: {np.std(error[50:-50]) < 0.01}")
