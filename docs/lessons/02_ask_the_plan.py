import numpy as np
import ridge

x = np.zeros((64, 1009), np.complex64)             # 64 lines of a length nobody likes: 1009 is prime
plan = ridge.fft.plan(x, measured=False)           # decided by the model of the machine; measured=True times the best

for problem, name, predicted, measured, reason, won in plan._plan.trials():
    if won:
        print("chosen for lines of 1009:", name.split("(")[0])

x[:] = np.random.default_rng(1).standard_normal(x.shape)
print("right:", np.allclose(plan(x), np.fft.fft(x), atol=1e-3))

try:
    plan(x[:, :1000])
except ValueError as refused:
    print("refused:", refused)
