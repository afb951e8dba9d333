"""Pictures that need no computation: data flow of kernels, layouts, rooflines."""
import cmath
import math
import random

from picture import Picture, number


# --- device FFT routes: DRAM blue, L2 green, local memory yellow, registers violet -------------------------------------------------

def fft_one_pass():
    p = Picture("fft-one-pass", 160, "One pass: a work-group reads a line, exchanges points through local memory, and writes it")
    p.box(10, 40, 80, 80, "dram", "DRAM", "~n points")
    p.box(130, 14, 220, 130, "none")
    p.text(240, 32, "one work-group per line", "m s")
    p.box(142, 42, 92, 84, "reg", "registers", "~twiddle,", "~butterfly")
    p.box(262, 42, 78, 84, "local", "local", "memory")
    p.arrow((234, 70), (262, 70))
    p.arrow((262, 100), (234, 100))
    p.text(296, 138, "once per radix", "s m")
    p.box(390, 40, 80, 80, "dram", "DRAM", "~spectrum")
    p.arrow((90, 62), (142, 62))
    p.text(110, 56, "read", "s m")
    p.line([(188, 126), (188, 152), (370, 152), (370, 100)])
    p.arrow((370, 100), (390, 100))
    p.text(370, 92, "write", "s m")
    return p


def fft_multi_pass():
    p = Picture("fft-multi-pass", 190, "Four-step method: columns and twiddle factors in the first pass, rows in the second")
    for x, name, lit in ((14, "input, n1 x n2", {(r, 2) for r in range(6)}), (188, "intermediate", {(3, c) for c in range(6)}),
                         (362, "output, transposed", {(r, 3) for r in range(6)})):
        p.text(x + 52, 18, name, "m s")
        p.grid(x, 26, 6, 6, 17, "dram", lit)
        p.text(x + 52, 146, "DRAM", "m")
    for x, first, second in ((153, "columns,", "twiddle"), (327, "rows,", "transpose")):
        p.arrow((x - 33, 77), (x + 33, 77))
        p.text(x, 68, first, "m s")
        p.text(x, 94, second, "m s")
    p.text(153, 168, "pass 1: one launch", "m")
    p.text(327, 168, "pass 2: one launch", "m")
    p.text(240, 184, "three and four passes split n1 again", "s m")
    return p


def fft_two_pass_tma():
    p = Picture("fft-two-pass-tma", 250, "Two passes with tiles prefetched by TMA while the previous tile is transformed")
    for y, name, source, target in ((12, "pass 1: columns, twiddle", "input", "intermediate"), (132, "pass 2: rows", "intermediate", "output")):
        p.box(10, y + 24, 92, 76, "dram", "DRAM", "~" + source)
        p.box(132, y, 216, 108, "none")
        p.text(240, y + 16, name, "m s")
        p.box(142, y + 26, 96, 32, "local", "tile k + 1")
        p.box(142, y + 66, 96, 32, "local", "tile k")
        p.box(262, y + 42, 76, 40, "reg", "registers")
        p.arrow((102, y + 42), (142, y + 42))
        p.text(117, y + 36, "TMA", "s m")
        p.arrow((238, y + 80), (262, y + 68))
        p.box(378, y + 24, 92, 76, "dram", "DRAM", "~" + target)
        p.arrow((338, y + 62), (378, y + 62))
    p.arrow((424, 112), (424, 122), (56, 122), (56, 156), kind="a d")
    return p


def fft_l2_ring():
    p = Picture("fft-l2-ring", 276, "One launch: pass 1 fills slots of a ring buffer in L2, pass 2 empties them")
    p.box(8, 96, 70, 60, "dram", "DRAM", "~input")
    p.box(402, 96, 70, 60, "dram", "DRAM", "~output")
    cx, cy, outer, inner, slots = 240, 122, 78, 40, 8
    for i in range(slots):
        a, b = (2 * math.pi * (i + e) / slots - math.pi / 2 for e in (0.02, 0.98))
        points = [(cx + r * math.cos(t), cy + r * math.sin(t)) for r, t in ((inner, a), (outer, a), (outer, b), (inner, b))]
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = [(number(x), number(y)) for x, y in points]
        full = i in (6, 7, 0, 1)
        p.add(f"<path d='M{x0} {y0}L{x1} {y1}A{outer} {outer} 0 0 1 {x2} {y2}L{x3} {y3}A{inner} {inner} 0 0 0 {x0} {y0}z' "
              f"class='box {'l2' if full else 'none'}'/>")
        middle = (a + b) / 2
        p.text(cx + 59 * math.cos(middle), cy + 59 * math.sin(middle) + 4.5, str((1 - i) % slots), "m s")
    p.text(cx, cy - 2, "ring", "m")
    p.text(cx, cy + 15, "in L2", "m s")
    p.arrow((78, 126), (98, 126))
    p.box(98, 104, 50, 44, "reg", "pass 1")
    p.arrow((148, 126), (178, 142))
    p.box(332, 104, 50, 44, "reg", "pass 2")
    p.arrow((308, 110), (332, 126))
    p.arrow((382, 126), (402, 126))
    p.text(240, 28, "slots 0 to 3 are full: pass 2 reads slot 0 next, pass 1 fills slot 4", "m s")
    p.box(134, 218, 212, 26, "none", "ticket counter: next tile")
    p.arrow((160, 218), (130, 150), kind="a d")
    p.arrow((320, 218), (350, 150), kind="a d")
    p.text(240, 264, "pass 2 waits for a written slot, pass 1 for a free one", "m s")
    return p


def fft_cluster():
    p = Picture("fft-cluster", 232, "A line held by the work-groups of a cluster, which write to each other's local memory")
    for x, name in ((10, "~line"), (404, "~spectrum")):
        p.box(x, 30, 66, 172, "dram", "DRAM", name)
    for i in range(4):
        y = 34 + i * 44
        p.box(106, y, 80, 32, "reg", f"group {i}", )
        p.box(292, y, 82, 32, "local", f"local {i}")
        p.arrow((76, y + 16), (106, y + 16))
        p.arrow((374, y + 16), (404, y + 16))
        for j in range(4):
            p.line([(186, y + 16), (292, 50 + j * 44)], "ax")
    p.text(146, 22, "first factor", "m s")
    p.text(240, 22, "exchange", "m s")
    p.text(333, 22, "second factor", "m s")
    p.text(240, 224, "one launch: DRAM is read once and written once", "m s")
    return p


def fft_convolution():
    p = Picture("fft-convolution", 236, "Bluestein's and Rader's algorithms: forward transform, product and inverse transform in one kernel")
    for y, name, first, last, note in (
            (30, "bluestein: length n, transforms of m >= 2n - 1 points", ("load", "~x chirp"), ("store", "~x chirp"), ""),
            (130, "rader: prime p, transforms of p - 1 points", ("gather", "~by g^i"), ("scatter", "~by g^-i"), "")):
        p.text(12, y - 8, name, "b")
        p.box(40, y, 400, 62, "none")
        for i, lines in enumerate((first, ("forward",), ("multiply", "~filter"), ("inverse",), last)):
            p.box(48 + i * 79, y + 9, 68, 44, "local" if i in (1, 3) else "reg", *lines)
            if i:
                p.arrow((37 + i * 79, y + 31), (48 + i * 79, y + 31))
        p.arrow((8, y + 31), (48, y + 31))
        p.arrow((432, y + 31), (472, y + 31))
    p.text(240, 212, "DRAM is touched at both ends only while m points fit a work-group;", "m s")
    p.text(240, 228, "fused_bluestein: columns | rows forward, multiply, inverse | columns", "m s")
    return p


def fft_real():
    p = Picture("fft-real", 220, "Real lines: columns of pairs, intermediate data in DRAM or L2, mirrored rows, half spectrum")
    p.box(8, 50, 84, 96, "dram", "DRAM", "~n reals =", "~n/2 pairs")
    p.box(114, 70, 66, 56, "reg", "columns", "~twiddle")
    p.text(244, 18, "intermediate", "m s")
    for r in range(8):
        lit = r in (2, 6)
        p.add(f"<rect x='204' y='{26 + r * 18}' width='80' height='16' class='box {'l2' if lit else 'none'}'/>")
        if lit:
            p.text(244, 38 + r * 18, "row r" if r == 2 else "row n1 - r", "m s")
    p.box(308, 70, 66, 56, "reg", "both", "~rows")
    p.box(396, 50, 76, 96, "dram", "DRAM", "~n/2 + 1", "~values")
    p.arrow((92, 98), (114, 98))
    p.arrow((180, 98), (204, 98))
    p.arrow((284, 70), (308, 88))
    p.arrow((284, 142), (308, 110))
    p.arrow((374, 98), (396, 98))
    p.text(240, 192, "real_two_pass: intermediate in DRAM, two launches", "m s")
    p.text(240, 209, "real_ring: intermediate in the L2 ring, one launch", "m s")
    return p


# --- rooflines and workloads ---------------------------------------------------------------------------------------------------------

# (name, FLOP per byte of DRAM, TFLOP/s): docs/measurements/h200.md. Transforms: 5 n log2 n FLOP and 16 n bytes; filter bank: 104 FLOP
# and 10 bytes per sample; stencil: 9 FLOP per cell and step, 8 bytes per cell and pass; radar: 6 passes of 16 bytes.
WORKLOADS = [("radar frame, 1024 x 1024", 2.55, 4.3), ("transform of 4096 points", 3.75, 15.6), ("transform of 2^20 points", 6.25, 15.1),
             ("filter bank, 256 channels x 16 taps", 10.4, 33.7),
             ("5-point stencil, 11 steps per pass", 12.4, 36.7)]
COPY, PEAK = 4.29, 66.1


def roofline():
    p = Picture("roofline", 382, "Roofline of an H200: copy bandwidth, float peak, and five workloads below them")
    left, right, top, bottom = 46, 466, 24, 250
    x = lambda i: left + (right - left) * (math.log10(i) - math.log10(0.5)) / (math.log10(64) - math.log10(0.5))
    y = lambda t: bottom - (bottom - top) * math.log10(t) / 2
    for i in (0.5, 1, 2, 4, 8, 16, 32, 64):
        p.line([(x(i), top), (x(i), bottom)], "g")
        p.text(x(i), bottom + 16, number(i), "s m")
    for t in (1, 2, 5, 10, 20, 50, 100):
        p.line([(left, y(t)), (right, y(t))], "g")
        p.text(left - 5, y(t) + 4, str(t), "s e")
    ridge = PEAK / COPY
    p.line([(x(0.5), y(0.5 * COPY)), (x(ridge), y(PEAK)), (x(64), y(PEAK))], "c0")
    p.text(x(0.56), y(13), "memory, 4.29 TB/s")
    p.text(right - 4, y(PEAK) - 7, "float peak, 66.1 TFLOP/s", "e")
    p.line([(x(ridge), y(PEAK)), (x(ridge), bottom)], "ax d")
    p.text(x(ridge) + 5, bottom - 8, "ridge point", "s")
    p.text(left + 2, top - 8, "TFLOP/s", "s")
    p.text(right, bottom + 32, "FLOP per byte of DRAM", "s e")
    for i, (name, intensity, rate) in enumerate(WORKLOADS):
        p.dot(x(intensity), y(rate), str(i + 1), "f1")
        share = rate / min(PEAK, intensity * COPY)
        p.dot(22, 298 + 17 * i, str(i + 1), "f1")
        p.text(38, 302.5 + 17 * i, name)
        p.text(466, 302.5 + 17 * i, f"{share:.2f} of the roof", "s e")
    return p


def filterbank_structure():
    p = Picture("filterbank-structure", 236, "Polyphase filter bank: branches, FIR filters, transform, channels")
    p.box(8, 30, 62, 176, "dram", "samples", "~x[n]")
    p.text(184, 20, "C branches, T taps each", "m s")
    for i in range(4):
        y = 36 + 44 * i
        p.arrow((70, y + 16), (100, y + 16))
        p.box(100, y, 168, 32, "none")
        for t in range(4):
            p.box(106 + 41 * t, y + 5, 34, 22, "local", "~x h")
            if t:
                p.line([(99 + 41 * t, y + 16), (106 + 41 * t, y + 16)], "ax")
        p.arrow((268, y + 16), (302, y + 16))
        p.text(285, y + 11, "sum", "s m")
        p.arrow((376, y + 16), (404, y + 16))
        p.text(408, y + 20, ("channel 0", "channel 1", "...", "channel C-1")[i], "s")
    p.box(302, 30, 74, 176, "reg", "transform", "~C points")
    p.text(240, 226, "every C samples: one new spectrum", "m s")
    return p


def spectral_leakage():
    p = Picture("spectral-leakage", 262, "Spectrum of a tone half way between two bins: without a window, with a Hann and with a Blackman window")
    n, area = 1024, (46, 20, 466, 216)
    x, y = p.plot(area, (70.5, 130.5), (-140, 0), range(80, 130, 10), range(0, -141, -20), "bin of the spectrum", "dB", vertical=False)
    windows = (("none", "c1", (1,)), ("Hann", "c0", (0.5, 0.5)), ("Blackman", "c2", (0.42, 0.5, 0.08)))
    for k, (name, kind, terms) in enumerate(windows):
        tone = [math.sin(2 * math.pi * 100.5 * i / n) * sum((-1) ** j * a * math.cos(2 * math.pi * j * i / (n - 1)) for j, a in enumerate(terms))
                for i in range(n)]
        power = [(b, abs(sum(v * cmath.exp(-2j * math.pi * i * b / n) for i, v in enumerate(tone)))) for b in range(71, 131)]
        most = max(v for _, v in power)
        p.line([(x(b), y(20 * math.log10(v / most + 1e-12))) for b, v in power], kind)
        p.line([(370, 88 + 18 * k), (394, 88 + 18 * k)], kind)
        p.text(400, 92 + 18 * k, name, "s")
    return p


def stencil_temporal():
    p = Picture("stencil-temporal", 226, "Temporal blocking: overlapped tiles advance several steps between one read and one write")
    left, cell, steps, width = 46, 14, 4, 28
    top = 34
    for s in range(steps + 1):
        for c in range(width):
            y = top + (steps - s) * 30
            tiles = [t for t in range(2) if 14 * t - (steps - s) <= c < 14 * (t + 1) + (steps - s)]
            kind = "none" if not tiles else "l2" if len(tiles) == 2 else "dram" if tiles == [0] else "local"
            p.add(f"<rect x='{left + c * cell}' y='{y}' width='{cell - 2}' height='12' class='{kind}'/>")
    for t, kind in ((0, "c0"), (1, "c1")):
        a, b = left + 14 * t * cell - 2, left + 14 * (t + 1) * cell - 1
        points = [(a, top - 4), (b, top - 4), (min(b + 4 * cell, left + width * cell), top + 136), (max(a - 4 * cell, left - 2), top + 136)]
        p.line(points + points[:1], kind)
    for s in range(steps + 1):
        p.text(left - 8, top + (steps - s) * 30 + 10, f"t + {s}" if s else "t", "s e")
    p.text(left + 98, 22, "tile 0 writes", "s m")
    p.text(left + 294, 22, "tile 1 writes", "s m")
    p.text(left + 98, 190, "tile 0 reads", "s m")
    p.text(left + 294, 190, "tile 1 reads", "s m")
    p.text(left + 196, 212, "green: cells that both tiles compute, so neither waits", "s m")
    return p


def stencil_march():
    p = Picture("stencil-march", 214, "Marching: each time step follows the step before it at a distance of one radius")
    left, cell, rows, depth, newest = 62, 24, 16, 4, 12
    for s in range(depth + 1):
        y = 164 - 32 * s
        p.text(left - 8, y + 16, "old level" if s == 0 else f"step {s}", "s e")
        for r in range(rows):
            at = newest - s
            kind = "reg" if r == at else "local" if at - 2 <= r < at and s < depth else "dram" if s in (0, depth) and r < at else "none"
            if s == 0 and r > at:
                kind = "dram"
            if kind != "none" or s in (0, depth):
                p.add(f"<rect x='{left + r * cell}' y='{y}' width='{cell - 3}' height='21' class='box {kind}'/>")
        if s < depth:
            p.arrow((left + (newest - s) * cell + 6, y), (left + (newest - s - 1) * cell + 15, y - 11))
    p.text(left + newest * cell + 10, 206, "arriving row", "s m")
    p.text(left + (newest - depth) * cell + 30, 26, "row that is stored", "s")
    p.text(left + 2 * cell, 206, "rows, march to the right", "s m")
    return p


def transpose_tiles():
    p = Picture("transpose-tiles", 200, "A tile is read along rows, transposed in registers or local memory, and written along rows")
    p.text(70, 18, "input", "m s")
    p.grid(14, 26, 8, 8, 14, "dram", {(r, c) for r in (2, 3) for c in (4, 5)})
    p.text(240, 18, "tile", "m s")
    for r in range(2):
        for c in range(2):
            p.box(196 + 44 * c, 40 + 44 * r, 42, 42, "local", "abcd"[2 * c + r])
    p.text(410, 18, "output", "m s")
    p.grid(354, 26, 8, 8, 14, "dram", {(r, c) for r in (4, 5) for c in (2, 3)})
    for k, (dx, dy) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
        p.text(14 + (4 + dx) * 14 + 7, 26 + (2 + dy) * 14 + 11, "abcd"[k], "s m")
        p.text(354 + (2 + dy) * 14 + 7, 26 + (4 + dx) * 14 + 11, "abcd"[k], "s m")
    p.arrow((130, 82), (192, 82))
    p.arrow((288, 82), (350, 82))
    p.text(160, 74, "whole", "m s")
    p.text(160, 98, "lines", "m s")
    p.text(320, 74, "whole", "m s")
    p.text(320, 98, "lines", "m s")
    p.text(240, 164, "a b are neighbours in the input, a c in the output:", "m s")
    p.text(240, 181, "the tile turns both into contiguous accesses", "m s")
    return p


def nufft_steps():
    p = Picture("nufft-steps", 226, "Type 1: spread points on a fine grid, transform, divide by the kernel's transform")
    random.seed(3)
    p.text(70, 18, "points", "m s")
    p.box(14, 26, 112, 112, "none")
    for _ in range(22):
        p.add(f"<circle cx='{random.randint(20, 120)}' cy='{random.randint(32, 132)}' r='2.5' class='f1'/>")
    p.text(194, 18, "fine grid", "m s")
    lit = {(r, c) for r in range(4, 8) for c in range(2, 6)}
    p.grid(146, 30, 12, 12, 8, "local", lit)
    p.add("<circle cx='178' cy='78' r='3' class='f1'/>")
    p.text(304, 18, "spectrum", "m s")
    p.grid(256, 30, 12, 12, 8, "reg", {(r, c) for r in range(3, 9) for c in range(3, 9)})
    p.text(420, 18, "modes", "m s")
    p.grid(396, 54, 6, 6, 8, "dram", {(r, c) for r in range(6) for c in range(6)})
    for a, b in ((126, 146), (242, 256), (352, 396)):
        p.arrow((a, 78), (b, 78))
    for x, step, note in ((136, "1 spread", "width cells per axis"), (262, "2 transform", ""), (400, "3 deconvolve", "")):
        p.text(x, 164, step, "m b")
    p.text(136, 181, "kernel over", "m s")
    p.text(136, 196, "width x width cells", "m s")
    p.text(262, 181, "only lines that", "m s")
    p.text(262, 196, "carry modes", "m s")
    p.text(400, 181, "divide by the", "m s")
    p.text(400, 196, "kernel's transform", "m s")
    p.text(240, 218, "type 2 runs the same steps in reverse", "m s")
    return p


def prism(p, x, y, w, h, d, kind):
    """A box in parallel projection."""
    s = d * 0.5
    for points in ([(x, y), (x + w, y), (x + w, y + h), (x, y + h)], [(x, y), (x + s, y - s), (x + w + s, y - s), (x + w, y)],
                   [(x + w, y), (x + w + s, y - s), (x + w + s, y + h - s), (x + w, y + h)]):
        p.add(f"<polygon points='{' '.join(number(a) + ',' + number(b) for a, b in points)}' class='box {kind}'/>")


def mpi_boxes():
    p = Picture("mpi-boxes", 300, "A grid divided in slabs along one axis, or in pencils along two axes")
    kinds = ("dram", "l2", "local", "reg")
    p.text(14, 18, "slabs: one exchange", "b")
    for i in reversed(range(4)):
        prism(p, 60, 58 + 15 * i, 60, 13, 60, kinds[i])
    for i in range(4):
        prism(p, 290 + 17 * i, 58, 13, 58, 60, kinds[i])
    p.arrow((186, 80), (262, 80))
    p.text(224, 70, "all to all", "m s")
    p.text(14, 148, "pencils: two exchanges, each in groups of ranks", "b")
    for back, low in ((1, 1), (0, 1), (1, 0), (0, 0)):  # complete along x: divided down and in depth
        prism(p, 34 + 15 * back, 190 + 31 * low - 15 * back, 60, 27, 28, kinds[2 * low + back])
    for back, across in ((1, 0), (1, 1), (0, 0), (0, 1)):  # complete along y: divided across and in depth
        prism(p, 194 + 31 * across + 15 * back, 190 - 15 * back, 27, 58, 28, kinds[2 * across + back])
    for low, across in ((1, 0), (1, 1), (0, 0), (0, 1)):  # complete in depth: divided down and across
        prism(p, 354 + 31 * across, 190 + 31 * low, 27, 27, 60, kinds[2 * across + low])
    p.arrow((136, 212), (186, 212))
    p.arrow((296, 212), (346, 212))
    p.text(14, 274, "Each colour is one of four ranks. A rank transforms the axes", "s")
    p.text(14, 290, "along which its box is complete.", "s")
    return p


def place_flow():
    p = Picture("place-flow", 280, "From a C++ file to a verified placed program")
    p.box(12, 14, 104, 40, "dram", "blur.cpp")
    p.box(148, 14, 130, 40, "reg", "front end", "~Clang: accesses")
    p.box(318, 14, 150, 40, "reg", "dependence test", "~isl: verdict per loop")
    p.arrow((116, 34), (148, 34))
    p.arrow((278, 34), (318, 34))
    p.box(148, 92, 130, 40, "local", "transformation", "~new text, if legal")
    p.arrow((360, 54), (360, 112), (278, 112))
    p.text(352, 90, "sequential", "s e")
    p.arrow((213, 92), (213, 54))
    p.text(208, 78, "parse again", "s e")
    p.box(318, 154, 150, 40, "reg", "kernel and host text", "~grid, memory, guards")
    p.arrow((430, 54), (430, 154))
    p.text(424, 128, "parallel", "s e")
    p.box(148, 154, 130, 40, "l2", "run both", "~same data")
    p.arrow((318, 174), (278, 174))
    p.line([(64, 54), (64, 174)], "a d")
    p.arrow((64, 174), (148, 174), kind="a d")
    p.text(70, 148, "original", "s")
    p.box(148, 226, 130, 40, "dram", "blur_placed.cpp")
    p.arrow((213, 194), (213, 226))
    p.text(220, 214, "equal results", "s")
    p.arrow((148, 188), (70, 188), (70, 236))
    p.text(70, 252, "different: no file", "s m")
    return p


DIAGRAMS = [fft_one_pass, fft_multi_pass, fft_two_pass_tma, fft_l2_ring, fft_cluster, fft_convolution, fft_real, roofline,
            filterbank_structure, spectral_leakage, stencil_temporal, stencil_march, transpose_tiles, nufft_steps, mpi_boxes, place_flow]
