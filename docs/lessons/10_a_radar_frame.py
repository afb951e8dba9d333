import numpy as np
from ridge import sar

radar = sar.Radar()                                    # L band on an aircraft, 1024 pulses of 1024 samples
targets = [(400.0, 4600.0), (500.0, 4800.0, 0.5)]      # metres along the track, metres of range, amplitude
echoes = radar.simulate(targets)
image = radar.focus(echoes)

print("brightest echo", round(float(np.abs(echoes).max()), 2), "- focused", round(float(np.abs(image).max()), 2))
for along, distance, *amplitude in targets:
    row, column = radar.cell(along, distance)
    answer = radar.measure(image, row, column)
    error = max(abs(answer["range"]["position"] - row), abs(answer["along"]["position"] - column))
    print(f"target at {distance:.0f} m: peak {answer['peak']:.2f}, {answer['range']['width']:.2f} cells wide, "
          f"found within a tenth of a cell: {error < 0.1}")
