import re

import numpy as np
import ridge

x = np.zeros((64, 1009), np.complex64)             # 64 transforms of a difficult length: 1009 is prime
plan = ridge.fft.plan(x, measured=False)           # chosen by the machine model; measured=True times the best candidates

variant = re.search(r"^  variant +([^(\n]+)", plan.explain(), re.M)[1]
print("chosen for length 1009:", variant)

x[:] = np.random.default_rng(1).standard_normal(x.shape)
print("right:", np.allclose(plan(x), np.fft.fft(x), atol=1e-3))

try:
    plan(x[:, :1000])
except ValueError as refused:
    print("refused:", refused)
