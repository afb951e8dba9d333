#!/usr/bin/env python3
"""Expected candidates of Gaussian noise per 10^9 samples of series, for the band and the settings of injection_test.cpp.

noise_rate.py DRAWS THRESHOLD LIMIT...    for example 400 5 5 5.5 6 6.5, about 4 minutes; needs numpy

Candidates are clumps of boxcars above the limit u on the grid of the second measurement: all times, widths of 1 to 32 samples,
trials a fraction of their spacing apart. By Aldous' Poisson clumping heuristic their number is Q(u) times the sum over the grid
of E[1 / C]. C is the number of grid points above u around one that is above u. It is drawn: noise in which one boxcar is set to
a value of the tail. A clump counts only if the first stage (coarse trials, widths and samples) reaches its own limit: that of sure
detections, or that of weak ones (one or two added samples) and the one at the trial's delays in samples that are not added."""
import sys
from math import erfc, sqrt

import numpy as np

CH, TOP, STEP, TS = 128, 1500.0, -1.5, 256e-6
K = 4148.808
f = TOP + STEP * np.arange(CH)
slope = 1 / f**2 - 1 / TOP**2; whole = K * slope[-1] / TS; slope = slope / slope[-1]     # whole: fine samples of delay per DM
def trials(dm_end=420, tol=1.05, pulse=40e-6):
    mid = (f[0] + f[-1]) / 2
    smear = 2 * K * 1.5 / mid**3; across = 2 * K * 1.5 * CH / mid**3 / 4
    segs, dm, fac = [(1, [])], 0.0, 1
    while True:
        while smear * dm > fac * TS and fac < 64:
            fac *= 2
            if not segs[-1][1]: segs.pop()
            segs.append((fac, []))
        segs[-1][1].append(dm)
        if dm >= dm_end: return segs
        s = fac * TS
        dm = min(dm + sqrt((s * s + pulse**2 + smear**2 * dm**2) * (tol**2 - 1)) / across, dm_end)
def coarse_widths(widest):
    out, w = [], 1
    while w <= widest:
        out.append(w)
        if w > 1 and w + w // 2 <= widest: out.append(w + w // 2)
        w *= 2
    return sorted(out)
FINE_W = np.array([1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,18,20,22,24,26,28,30,32])
def boxes(series, widths):   # all boxcars: list of (width, values)
    p = np.concatenate([[0], np.cumsum(series)])
    return [(w, (p[w:] - p[:-w]) / sqrt(CH * w)) for w in widths if len(series) > w]
def rate(u, n, rng, threshold):
    total, err = 0.0, 0.0
    for fac, dms in trials():
        d = np.array(dms) * whole                      # delays of the trials, fine samples
        sp = (d[-1] - d[0]) / max(1, len(d) - 1)
        step_of = lambda w: sp / min(16, max(2, int(np.ceil(4 * sp / w)))) / 2      # DM lattice of the second measurement (half its coarse step)
        weights = np.array([(d[-1] - d[0]) / step_of(w) for w in FINE_W])           # grid points per input sample
        vals = []
        for _ in range(n):
            i = rng.choice(len(FINE_W), p=weights / weights.sum()); w = FINE_W[i]
            D0 = rng.uniform(d[0], d[-1]); base = np.rint(D0 * slope).astype(int)
            half = int(3 * sp + 2); margin = 2 * 32 + half + 2 * fac; L = 2 * margin + w
            x = rng.standard_normal((CH, L)); y = u + rng.exponential(1 / u)
            x[:, margin:margin + w] += (y - x[:, margin:margin + w].sum() / sqrt(CH * w)) / sqrt(CH * w)
            cs = np.concatenate([np.zeros((CH, 1)), np.cumsum(x, 1)], 1)
            # grid around the point: trials up to 2 spacings off, its own lattice
            st = step_of(w); C = 0
            lo, hi = margin - 34 - half, margin + w + 34 + half
            for k in range(-int(2 * sp / st), int(2 * sp / st) + 1):
                D = D0 + k * st
                if D < d[0] or D > d[-1]: continue
                sh = np.rint(D * slope).astype(int) - base
                idx = np.arange(max(half, lo), min(L - half, hi))
                series = x[np.arange(CH)[:, None], idx[None, :] + sh[:, None]].sum(0)
                for ww, v in boxes(series, FINE_W[(FINE_W >= w / 2) & (FINE_W <= 2 * w)]):
                    C += (v > u).sum() * st / step_of(ww)
            # first stage
            seen = False; weak = []  # delays of the trials with weak detections
            align = rng.integers(fac); near = np.argsort(abs(d - D0))[:3]
            for j in near:
                late = np.rint(d[j] / fac * slope).astype(int) * fac - base
                m = (L - 2 * half - 2 * fac) // fac
                begin = half + fac + align + np.arange(m) * fac
                pos = begin[None, :] + late[:, None]
                ok = (pos >= 0) & (pos + fac <= L)
                series = np.where(ok, cs[np.arange(CH)[:, None], np.clip(pos + fac, 0, L)] - cs[np.arange(CH)[:, None], np.clip(pos, 0, L)], 0).sum(0) / sqrt(fac)
                for cw, v in boxes(series, coarse_widths(max(1, 32 // fac))):
                    apart = sp / fac
                    limit = min(threshold, max(5.0, threshold * min(0.97, max(0.5, 1 - apart / 4 / cw))))
                    if v.max() >= limit: seen = True
                    elif fac > 1 and cw <= 2 and v.max() >= min(limit, max(3.5, threshold * sqrt(1 / 4))): weak.append(d[j])
            for D in weak if not seen else []:
                sh = np.rint(D * slope).astype(int) - base
                idx = np.arange(max(half, lo), min(L - half, hi))
                series = x[np.arange(CH)[:, None], idx[None, :] + sh[:, None]].sum(0)
                if max(v.max() for _, v in boxes(series, FINE_W[FINE_W <= 4 * fac])) >= max(5.0, 0.85 * threshold): seen = True
            vals.append(seen / C)
        vals = np.array(vals)
        total += weights.sum() * vals.mean(); err += (weights.sum() * vals.std() / sqrt(n))**2
    q = erfc(u / sqrt(2)) / 2
    return q * total, q * sqrt(err)
def main():
    rows = 1e9 / sum(len(dms) / fac for fac, dms in trials())
    rng = np.random.default_rng(1)
    for u in map(float, sys.argv[3:]):
        mean, error = rate(u, int(sys.argv[1]), rng, float(sys.argv[2]))
        print(f"{mean * rows:.2f} +- {error * rows:.2f} candidates above {u} per 1e9 samples of series", flush=True)


if __name__ == "__main__":
    main()
