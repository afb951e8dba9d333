import numpy as np
import ridge
from ridge import stencil


def diffuse(u):
    """Perona and Malik's diffusion: smooths, but stops at edges."""
    def flow(neighbour):
        difference = neighbour - u[0, 0]
        return difference / (1 + 100 * difference * difference)
    return u[0, 0] + 0.2 * (flow(u[-1, 0]) + flow(u[1, 0]) + flow(u[0, -1]) + flow(u[0, 1]))


y, x = np.mgrid[0:64, 0:64]
picture = (np.where(x < 32, 0, 1) + 0.02 * ((7 * x + 3 * y) % 5)).astype(np.float32)

for device in ridge.devices():
    plan = stencil.plan(diffuse, picture, border="mirror", device=device["id"])
    after = plan(picture, 100)
    print(f"{device['id']}: noise beside the edge {abs(after[10, 10] - after[10, 12]):.3f}, "
          f"the step across it {after[20, 40] - after[20, 20]:.2f}, kernels: {'yes' if plan.source else 'no'}")
