import time

import numpy as np
import ridge


def best(work, rounds=7):
    work()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


for n in (256, 4096):
    x = np.ones(((1 << 20) // n, n), np.complex64)     # 8 MiB
    out = np.empty_like(x)
    flops = 5 * x.size * np.log2(n)                    # the usual count
    moved = 2 * x.nbytes                               # every value read once and written once
    plan = ridge.fft.plan(x, workers=-1, measured=False)
    seconds, copying = best(lambda: plan(x, out)), best(lambda: np.copyto(out, x))
    print(f"length {n}: {flops / moved:.1f} flops per byte; "
          f"{moved / seconds / 1e9:.1f} GB/s, a copy {moved / copying / 1e9:.1f}")
