import numpy as np
from ridge import stencil


def step(u):
    return u[0, 0] + 0.2 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * u[0, 0])


n, steps = 64, 100
y, x = np.mgrid[0:n, 0:n]
u = np.cos(2 * np.pi * x / n) * np.cos(2 * np.pi * y / n)       # this wave decays without changing shape
factor = 1 + 0.2 * (4 * np.cos(2 * np.pi / n) - 4)              # exact decay per step

plan = stencil.plan(step, u, border="periodic")
after = plan(u, steps)
print("a sum of weighted neighbours:", stencil.update(step).linear())
print("decayed to", round(float(after[0, 0]), 6), "- expected", round(factor ** steps, 6))
print("worst error of", after.size, "cells below 1e-13:", bool(np.abs(after - u * factor ** steps).max() < 1e-13))
