import numpy as np
from ridge import nufft

n, turns, count = 64, 40, 12000
y, x = np.mgrid[-n // 2:n // 2, -n // 2:n // 2] / n
phantom = 1.0 * (np.hypot(x, y) < 0.4) - 0.5 * (np.hypot(x - 0.1, y) < 0.15)    # a disc with a darker one inside

t = (np.arange(count) + 0.5) / count
kx, ky = np.pi * t * np.cos(2 * np.pi * turns * t), np.pi * t * np.sin(2 * np.pi * turns * t)
scan = nufft.Plan(2, (n, n), eps=1e-6)                                          # image to samples
scan.setpts(ky, kx)
samples = scan.execute(phantom)                                                 # what the scanner measures


def error(image):
    return np.linalg.norm(image - phantom) / np.linalg.norm(phantom)


def best(image):                                                                # scaled to fit the phantom
    return image * np.vdot(image, phantom) / np.vdot(image, image)


adjoint = scan.execute_adjoint(samples)
print(f"{count} samples on a spiral of {turns} turns")
print(f"the adjoint: off by {error(best(adjoint)):.2f}; with samples weighted by area: {error(best(scan.execute_adjoint(samples * t))):.2f}")

normal = nufft.Normal((n, n), (ky, kx), weights=t)                              # A* W A as one convolution: no points from here on
image, residual = np.zeros((n, n), complex), scan.execute_adjoint(samples * t)
step = residual
for iteration in range(20):                                                     # conjugate gradients
    applied, size = normal(step), np.vdot(residual, residual).real
    length = size / np.vdot(step, applied).real
    image, residual = image + length * step, residual - length * applied
    step = residual + np.vdot(residual, residual).real / size * step
print(f"20 iterations of conjugate gradients: {error(image):.2f}")
