import numpy as np
from ridge import image

random = np.random.default_rng(11)
background = image.apply("gauss 2", random.integers(0, 256, (120, 160, 3), np.uint8))
first, second = background.copy(), background.copy()
ball = image.apply("gauss 1", random.integers(0, 256, (40, 40, 3), np.uint8))
first[40:80, 40:80] = ball
second[42:82, 43:83] = ball                            # two down, three to the right

flow = image.flow(first, second)
print("the ball moved", np.median(flow[50:70, 50:70], axis=(0, 1)).round().astype(int), "(x, y) pixels")
print("the background", np.median(flow[:30], axis=(0, 1)).round().astype(int))

busy = image.variance(first[:, :, 0].copy(), window=9)
print("where the variance is largest:", "on the ball" if busy[45:75, 45:75].mean() > busy[:30].mean() else "elsewhere")
