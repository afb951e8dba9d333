import numpy as np
from ridge import stencil

# A medium whose velocity grows with the depth, with a fast and a slow body.
y, x = np.mgrid[:36, :48]
start = 1600.0 + 8 * y
true = start + 150 * (np.hypot(y - 16, x - 15) < 5) - 150 * (np.hypot(y - 20, x - 33) < 5)

# Four shots; receivers on two sides. Positions are (depth, width) in cells of 10 m.
sources = [[(2.5, column)] for column in (6, 18, 30, 42)]
receivers = [(depth, column + 0.5) for depth in (2, 33) for column in range(2, 45, 2)]
wave = stencil.Wave(true.shape, fastest=2100, sources=sources, receivers=receivers, steps=240, spacing=10, frequency=9)
observed = wave.forward(true)
print("traces:", observed.shape, "of", wave.shots, "shots")

# Steepest descent; the length of a step comes from the last two gradients (Barzilai and Borwein).
model, before = start.copy(), None
for iteration in range(20):
    misfit, slope = wave.gradient(model, observed)
    first = misfit if iteration == 0 else first
    if before is None:
        length = 20 / abs(slope).max()
    else:
        moved, changed = model - before[0], slope - before[1]
        length = (moved * moved).sum() / abs((moved * changed).sum())
    before = model.copy(), slope
    model = np.clip(model - length * slope, 1400, 2100)

misfit, _ = wave.gradient(model, observed)
inside = true != start
print("the misfit has fallen below a tenth:", misfit < 0.1 * first)
print("the fast body was found faster, the slow one slower:",
      (model - start)[inside & (true > start)].mean() > 40, (model - start)[inside & (true < start)].mean() < -40)
