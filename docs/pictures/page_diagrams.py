"""Pictures of the users' pages and of HACKING: data flow, layouts, geometry. No computation."""
import math
import os
import random

from picture import HERE, Picture


def check_flow():
    p = Picture("check-flow", 220, "Random problem, result of a variant, result of the reference, gate; a wrong result is shrunk and reported")
    p.row(20, 52, (10, 84, "none", "seed", "~--seed 7"), (124, 104, "dram", "problem", "~type, shape, ..."))
    p.box(268, 8, 112, 36, "reg", "variant", "~drawn at random")
    p.box(268, 56, 112, 36, "local", "reference", "~plain loops")
    p.box(414, 20, 56, 60, "l2", "gate")
    p.arrow((228, 40), (268, 26))
    p.arrow((228, 52), (268, 74))
    p.arrow((380, 26), (414, 40))
    p.arrow((380, 74), (414, 60))
    p.arrow((442, 80), (442, 128))
    p.text(436, 112, "too different", "s e")
    p.box(268, 128, 202, 40, "none", "shrink while it still fails", "~half the size, --shrink")
    p.arrow((268, 148), (228, 148))
    p.box(10, 128, 218, 40, "none", "command that repeats it", "~exit status 2")
    p.arrow((428, 20), (428, 4), (176, 4), (176, 20), kind="a d")
    p.notes(240, 192, "dashed: within the gate, so the next problem is drawn;", "the reference shares no code with the variants")
    return p


def fft_order():
    p = Picture("fft-order", 226, "Order of the frequencies in a spectrum of eight complex samples and in one of eight real samples")
    p.text(12, 20, "complex, n = 8: position in the array and frequency", "b")
    for i, f in enumerate((0, 1, 2, 3, -4, -3, -2, -1)):
        p.text(36 + 56 * i, 42, str(i), "s m")
        p.box(10 + 56 * i, 48, 52, 30, "dram" if f >= 0 else "reg", str(f) if f != -4 else "±4")
    p.text(122, 96, "0 and positive", "s m")
    p.text(346, 96, "negative: frequency minus n", "s m")
    p.text(12, 126, "real, n = 8: n/2 + 1 values", "b")
    for i in range(5):
        p.box(10 + 56 * i, 134, 52, 30, "dram", str(i) if i < 4 else "±4")
    for i, f in enumerate((3, 2, 1)):
        p.add(f"<rect x='{290 + 56 * i}' y='134' width='52' height='30' rx='4' class='box none d'/>")
        p.text(316 + 56 * i, 153.5, f"-{f}", "s m")
    for i in (1, 2, 3):
        a, b = 36 + 56 * i, 36 + 56 * (8 - i)
        p.line([(a, 164), (a, 172 + 6 * (3 - i)), (b, 172 + 6 * (3 - i)), (b, 164)], "ax")
    p.text(240, 206, "not stored: the conjugate of the value with the positive frequency", "s m")
    return p


def fftw_calls():
    p = Picture("fftw-calls", 226, "Calls of a program to FFTW go to libridge_fftw3; only MPI plans and other precisions go to FFTW")
    p.box(12, 66, 104, 84, "dram", "program", "~built for FFTW,", "~unchanged")
    p.box(170, 14, 150, 66, "reg", "libridge_fftw3.so", "~fftw_plan_...", "~fftw_execute")
    p.box(374, 14, 96, 66, "l2", "Ridgeline", "~plan, wisdom")
    p.box(170, 150, 150, 52, "local", "FFTW", "~libfftw3_mpi, libfftw3l")
    p.arrow((116, 92), (170, 54))
    p.text(150, 34, "LD_PRELOAD", "s e")
    p.arrow((320, 46), (374, 46))
    p.arrow((116, 126), (170, 170))
    p.text(124, 184, "fftw_mpi_, fftwl_,", "s e")
    p.text(124, 200, "fftwq_", "s e")
    p.arrow((245, 80), (245, 150), kind="a d")
    p.notes(254, 110, "plans that Ridgeline", "did not make", kind="s")
    p.notes(422, 100, "one per problem,", "cached")
    return p


def adjoint_pair():
    p = Picture("adjoint", 196, "Forward: input, plan A, output, loss. Backward: gradient by the output, adjoint plan, gradient by the input")
    p.row(24, 46, (12, 84, "dram", "x"), (160, 110, "reg", "plan", "~y = A x"), (334, 60, "l2", "y"))
    p.row(24, 46, (334, 60, "l2", "y"), (420, 50, "none", "loss"))
    p.text(240, 16, "forward", "s m")
    p.box(12, 112, 84, 46, "dram", "gradient", "~by x")
    p.box(160, 112, 110, 46, "reg", "plan.adjoint()", "~A^H g")
    p.box(334, 112, 60, 46, "l2", "g", "~by y")
    p.arrow((445, 70), (445, 135), (394, 135))
    p.arrow((334, 135), (270, 135))
    p.arrow((160, 135), (96, 135))
    p.text(240, 104, "backward", "s m")
    p.text(240, 184, "the dot-product test of both: <A x, g> = <x, A^H g>", "s m")
    return p


def place_claim():
    p = Picture("place-claim", 226, "A loop that stores to out[at[i]]: without equal numbers in at every iteration has its own element, with equal ones two conflict")
    for x, name, at, bad in ((12, "all numbers differ", (2, 0, 3, 1), None), (252, "two are equal", (2, 0, 2, 1), 2)):
        p.text(x + 104, 18, name, "m b")
        p.text(x, 46, "at", "s")
        for i, a in enumerate(at):
            p.box(x + 34 + 44 * i, 28, 38, 28, "dram", str(a))
            p.arrow((x + 53 + 44 * i, 56), (x + 53 + 44 * a, 122), kind="c1" if a == bad else "a")
        p.text(x, 140, "out", "s")
        for e in range(4):
            p.box(x + 34 + 44 * e, 122, 38, 28, "l2" if e != bad else "local", str(e) if e in at else " ")
    p.text(116, 174, "iterations may run", "s m")
    p.text(116, 190, "in any order", "s m")
    p.text(356, 174, "the result depends on", "s m")
    p.text(356, 190, "which iteration is last", "s m")
    p.text(240, 216, "the compiler cannot know the numbers: a claim says that they differ", "s m")
    return p


def place_window():
    p = Picture("place-window", 270, "Iteration r, c multiplies two windows into an image of its own and stores the sum in one pixel")
    p.text(70, 18, "image", "s m")
    p.grid(14, 26, 8, 5, 14, "dram", {(r, c) for r in range(1, 4) for c in range(3, 6)})
    p.text(70, 124, "seen", "s m")
    p.grid(14, 132, 8, 5, 14, "dram", {(r, c) for r in range(1, 4) for c in range(3, 6)})
    p.text(240, 60, "weights", "s m")
    p.grid(219, 68, 3, 3, 14, "local", {(r, c) for r in range(3) for c in range(3)})
    p.notes(240, 128, "private:", "one per iteration")
    p.arrow((130, 66), (214, 82))
    p.arrow((130, 166), (214, 98))
    p.text(172, 66, "multiply", "s m")
    p.text(410, 18, "out", "s m")
    p.grid(354, 54, 8, 5, 14, "l2", {(2, 4)})
    p.arrow((266, 89), (410, 89))
    p.text(310, 82, "sum", "s m")
    p.notes(240, 226, "the call of a library function counts as the loops of its model,", "so the dependence test sees which elements it reads and writes;",
            "no two iterations write one pixel: the loops are parallel")
    return p


def place_simpleflow():
    p = Picture("place-simpleflow", 262, "Steps of SimpleFlow on one pyramid level: four are placed, two are sequential and stay on the host")
    steps = (("selectPointsToRecalcFlow", "f1", "reads marks of earlier blocks"), ("crossBilateralFilter", "l2", "per pixel, then enlarged by two"),
             ("calcConfidence", "local", "per pixel, with an assertion"), ("calcOpticalFlowSingleScaleSF", "l2", "search per pixel"),
             ("extrapolateFlow", "f1", "reads marks of earlier blocks"), ("removeOcclusions", "l2", "per pixel"))
    for i, (name, kind, note) in enumerate(steps):
        y = 12 + 33 * i
        p.box(16, y, 218, 25, "none" if kind == "f1" else kind, name)
        p.text(246, y + 17, note, "s")
        if i:
            p.arrow((125, y - 8), (125, y))
    p.arrow((16, 190), (6, 190), (6, 24), (16, 24), kind="a d")
    for x, kind, name in ((16, "l2", "kernel, or threads"), (176, "local", "threads of the host"), (346, "none", "sequential")):
        p.box(x, 216, 22, 14, kind)
        p.text(x + 30, 228, name, "s")
    p.text(240, 254, "dashed: next finer level. The first step calls calcIrregularityMat, a kernel", "s m")
    return p


def place_session():
    p = Picture("place-session", 214, "A session: grid is uploaded by the first call, stays on the device, is copied back for host_reads and at the end")
    p.text(64, 46, "host", "e")
    p.text(64, 136, "device", "e")
    p.line([(74, 42), (474, 42)], "ax")
    p.line([(74, 132), (474, 132)], "ax")
    p.box(78, 28, 56, 28, "dram", "grid")
    for x, name in ((122, "heat"), (196, "blur"), (316, "heat"), (380, "blur")):
        p.box(x, 114, 56, 36, "l2", name)
    p.arrow((104, 56), (104, 132), (122, 132))
    p.text(110, 84, "first call:", "s")
    p.text(110, 99, "upload", "s")
    p.arrow((252, 132), (272, 132), (272, 56))
    p.box(254, 28, 56, 28, "local", "print")
    p.notes(282, 78, "host_reads:", "download", kind="s", step=15)
    p.arrow((436, 132), (456, 132), (456, 56))
    p.text(450, 78, "finish()", "s e")
    p.text(474, 172, "time", "s e")
    p.text(240, 192, "between the calls the values stay in device memory;", "s m")
    p.text(240, 208, "the session knows only of accesses by placed functions", "s m")
    return p


def place_comparison():
    p = Picture("place-comparison", 240, "Generated arguments go to the original and to the placed program in two orders; only equal results give a file")
    p.box(10, 70, 112, 60, "dram", "arguments", "~random arrays,", "~prime sizes")
    for y, kind, *lines in ((12, "local", "original", "~as compiled by you"), (78, "reg", "placed", "~work-items in order"), (144, "reg", "placed", "~in another order")):
        p.box(176, y, 138, 46, kind, *lines)
        p.arrow((122, 100), (176, y + 23))
        p.arrow((314, y + 23), (370, 100))
    p.box(370, 70, 100, 60, "l2", "equal?", "~bit for bit, or", "~2e-5, 1e-4")
    p.arrow((400, 130), (400, 186))
    p.arrow((444, 130), (444, 186))
    p.text(394, 160, "yes", "s e")
    p.text(450, 160, "no", "s")
    p.text(384, 202, "the file", "s m")
    p.text(384, 217, "is written", "s m")
    p.text(446, 202, "no file", "s m")
    p.notes(12, 212, "a dependence that the analysis missed", "shows in the other order", kind="s")
    return p


def psrfits_rows():
    p = Picture("psrfits-rows", 214, "A search-mode file: a header, then rows with a time offset, frequencies, weights, scales, offsets and a block of samples")
    p.box(10, 16, 118, 44, "none", "primary header", "~telescope, start")
    p.box(10, 68, 118, 44, "none", "SUBINT header", "~TBIN, NBITS")
    for i, name in enumerate(("row 0", "row 1", "...")):
        p.box(10, 120 + 28 * i, 118, 24, "dram", name)
    p.line([(128, 132), (160, 24)], "ax")
    p.line([(128, 144), (160, 190)], "ax")
    p.box(160, 16, 310, 182, "dram")
    for i, (name, note) in enumerate((("OFFS_SUB", "time of the row's middle"), ("DAT_FREQ", "MHz per channel"), ("DAT_WTS", "per channel; 0: flagged"),
                                      ("DAT_SCL, DAT_OFFS", "per channel"))):
        p.text(172, 38 + 18 * i, name, "b")
        p.text(466, 38 + 18 * i, note, "s e")
    p.text(172, 112, "DATA", "b")
    p.grid(226, 104, 20, 5, 11, "local", {(r, c) for r in range(5) for c in range(20)})
    p.text(336, 174, "NSBLK samples x NPOL x NCHAN values", "s m")
    p.text(315, 190, "value = (data - ZERO_OFF) DAT_SCL + DAT_OFFS", "s m")
    return p


def uvfits_baseline():
    p = Picture("uvfits-baseline", 246, "Two stations, the baseline between them, and a source whose wave reaches the second station later by w")
    a, b = (76, 190), (310, 190)
    d = (math.sin(math.radians(32)), -math.cos(math.radians(32)))
    for (x, y), name in ((a, "station 1"), (b, "station 2")):
        p.line([(x - 18, y - 22), (x, y - 8), (x + 18, y - 22)], "c0")
        p.line([(x, y - 8), (x, y)], "a")
        p.text(x, y + 18, name, "s m")
    p.arrow((b[0], b[1] - 8), (a[0], a[1] - 8))
    p.text(213, 200, "baseline r1 - r2", "s m")
    for x, y in (a, b):
        p.arrow((x + 150 * d[0], y - 8 + 150 * d[1]), (x + 12 * d[0], y - 8 + 12 * d[1]), kind="c2")
    w = (b[0] - a[0]) * d[0]
    foot = (a[0] + w * d[0], a[1] - 8 + w * d[1])
    p.line([(b[0], b[1] - 8), foot], "ax d")
    p.line([(a[0], a[1] - 8), foot], "c1")
    p.text(foot[0] - 44, foot[1] + 46, "|w|", "m")
    p.text(240, 108, "wavefront", "s m")
    p.text(330, 26, "from the phase centre", "s m")
    p.notes(374, 132, "u: east, v: north", "w: towards the", "phase centre", kind="s")
    p.text(240, 238, "a source at (l, m, n) has the phase -2 pi f (u l + v m + w (n - 1))", "s m")
    return p


def strides():
    p = Picture("strides", 246, "One column at a time uses one value of each cache line; eight neighbouring columns use whole lines")
    for x, name, columns, note in ((16, "one column at a time", 1, ("8 lines are fetched", "for 8 values")),
                                   (256, "eight columns together", 8, ("8 lines are fetched", "for 64 values"))):
        p.text(x + 104, 18, name, "m b")
        p.grid(x, 28, 13, 8, 16, "dram", {(r, c) for r in range(8) for c in range(8)})
        p.grid(x, 28, 13, 8, 16, "l2", {(r, c) for r in range(8) for c in range(columns)})
        for r in range(8):
            p.line([(x, 28 + 16 * r), (x + 128, 28 + 16 * r), (x + 128, 44 + 16 * r), (x, 44 + 16 * r), (x, 28 + 16 * r)], "a")
        p.notes(x + 104, 178, *note)
    for x, kind, name in ((60, "dram", "cache line that is fetched"), (270, "l2", "value that is used")):
        p.box(x, 220, 22, 14, kind)
        p.text(x + 30, 232, name, "s")
    return p


def c_structs():
    p = Picture("c-structs", 214, "A struct of an older program is copied to the library's larger struct; the further members count as zero")
    p.text(12, 20, "program, compiled with an older ridge.h", "b")
    for i, (name, kind) in enumerate((("struct_size", "reg"), ("precision", "dram"), ("axes", "dram"), ("axis", "dram"))):
        p.box(12 + 92 * i, 30, 88, 34, kind, name)
        p.arrow((56 + 92 * i, 64), (56 + 92 * i, 118))
    p.notes(384, 44, "struct_size:", "their bytes", kind="s")
    for i, name in enumerate(("struct_size", "precision", "axes", "axis", "later")):
        p.box(12 + 92 * i, 118, 88, 34, ("reg", "dram", "dram", "dram", "local")[i], name)
    p.text(424, 110, "0: the default", "s m")
    p.text(12, 172, "library, newer: members are added at the end only", "b")
    p.text(12, 194, "so a program runs with every later library of soname libridge_c.so.1", "s")
    return p


def modules():
    p = Picture("modules", 282, "Layers of the source tree: base, devices, machine and plan, workloads, checks and bench, the command and other interfaces")
    layers = ((12, "none", ("cli: the command ridge", "bench", "check"), "other interfaces: python, fftw, c, mpi"),
              (78, "reg", ("fft", "nufft", "stencil", "filterbank"), None), (110, "reg", ("search", "sar", "image", "transpose"), None),
              (168, "local", ("plan", "machine", "codegen", "graph"), "choice, ceilings, kernel text, streams"),
              (226, "l2", ("device: host, OpenCL, CUDA", "io", "base"), None))
    for y, kind, names, note in layers:
        widths = [len(n) for n in names]
        unit, x = (456 - 6 * (len(names) - 1)) / sum(w + 6 for w in widths), 12
        for name, w in zip(names, widths):
            p.box(x, y, unit * (w + 6), 26, kind, name)
            x += unit * (w + 6) + 6
        if note:
            p.text(240, y + 42, note, "s m")
    for y0, y1 in ((58, 76), (138, 166), (212, 224)):
        p.arrow((30, y0), (30, y1))
    p.text(40, 156, "arrows: may include", "s")
    p.text(240, 274, "place is a compiler of its own, over base, device and machine", "s m")
    return p


def tones():
    p = Picture("tones", 262, "The sound of lesson 1: twelve milliseconds of samples, and its spectrum with two lines at 440 and 1000 Hz")
    sound = [math.sin(440 * 2 * math.pi * i / 8000) + 0.5 * math.sin(1000 * 2 * math.pi * i / 8000) for i in range(97)]
    x, y = p.plot((40, 24, 228, 200), (0, 12), (-1.5, 1.5), (0, 4, 8, 12), (-1, 0, 1), "milliseconds", "sound")
    p.line([(x(i / 8), y(v)) for i, v in enumerate(sound)], "c0")
    x, y = p.plot((282, 24, 470, 200), (0, 1500), (0, 1.2), (0, 440, 1000), (0, 0.5, 1), "Hz", "amplitude")
    for hertz, loud in ((440, 1), (1000, 0.5)):
        p.line([(x(hertz), y(0)), (x(hertz), y(loud))], "c1")
        p.add(f"<circle cx='{x(hertz):.1f}' cy='{y(loud):.1f}' r='4' class='f1'/>")
    p.arrow((234, 112), (250, 112))
    p.text(240, 254, "8000 samples give 4001 values, one per Hz; all others are 0 to rounding", "s m")
    return p


def diffusion():
    p = Picture("diffusion", 262, "A row of the picture of lesson 7 before and after 100 steps: the noise is gone, the step is left")
    size, row = 64, 20
    grid = [[(0.0 if c < 32 else 1.0) + 0.02 * ((7 * c + 3 * r) % 5) for c in range(size)] for r in range(size)]
    first = grid[row]
    flow = lambda d: d / (1 + 100 * d * d)
    for _ in range(100):
        at = lambda r, c: grid[min(max(r, 0), size - 1)][min(max(c, 0), size - 1)]
        grid = [[grid[r][c] + 0.2 * sum(flow(at(r + a, c + b) - grid[r][c]) for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1)))
                 for c in range(size)] for r in range(size)]
    x, y = p.plot((46, 24, 466, 216), (0, 63), (-0.1, 1.2), range(0, 64, 16), (0, 0.5, 1), "column", "value in row 20")
    p.line([(x(c), y(v)) for c, v in enumerate(grid[row])], "c0")
    p.line([(x(c), y(v)) for c, v in enumerate(first)], "c1")
    p.key(60, 50, "after 100 steps", "before")
    return p


def fold():
    p = Picture("fold", 330, "Lesson 16: two seconds of the series, in which no pulse is visible, and the folded profile with one peak")
    generator, period, count = random.Random(16), 250, 32768
    series = [generator.gauss(0, 1) for _ in range(count)]
    for i in range(120):  # S/N 2 in 8 samples
        for k in range(8):
            series[400 + period * i + k] += 2 / math.sqrt(8)
    x, y = p.plot((46, 22, 466, 126), (0, 2), (-4.5, 4.5), (0, 0.5, 1, 1.5, 2), (-4, 0, 4), "seconds", "series, sigma")
    p.line([(x(t / 1000), y(max(series[t:t + 4], key=abs))) for t in range(0, 2000, 4)], "c0")
    sums = [sum(series[400 + period * i + b] for i in range(120)) for b in range(period)]
    box = lambda b: sum(sums[(b + k) % period] for k in range(8)) / math.sqrt(8 * 120)
    x, y = p.plot((46, 186, 466, 290), (0, 1), (-5, 25), (0, 0.5, 1), (0, 10, 20), "turns", "S/N of 8 bins, 120 periods folded")
    p.line([(x(b / period), y(box(b - 125))) for b in range(period)], "c1")
    return p


def beam():
    p = Picture("beam", 262, "Power of one beam of 16 stations against the direction: a main lobe at 0.2, side lobes below it")
    generator = random.Random(1)
    east = [generator.uniform(-50, 50) for _ in range(16)]
    x, y = p.plot((46, 24, 458, 216), (-0.6, 1), (-30, 2), [i / 5 for i in range(-3, 6)], range(0, -31, -10), "direction cosine towards east", "power, dB")
    wave = 2 * math.pi * 150e6 / 299792458
    gain = lambda l: abs(sum(complex(math.cos(a), math.sin(a)) for a in (wave * e * (l - 0.2) for e in east))) / 16
    p.line([(x(l / 500), y(20 * math.log10(gain(l / 500) + 1e-6))) for l in range(-300, 501)], "c0")
    p.line([(x(-0.6), y(10 * math.log10(1 / 16))), (x(1), y(10 * math.log10(1 / 16)))], "c1 d")
    p.text(466, 18, "dashed: noise of 16 stations, 1/16", "s e")
    p.text(x(0.23), 40, "the source", "s")
    return p


def device_dialect():
    p = Picture("device-dialect", 236, "One kernel text is compiled for OpenCL and for CUDA behind two preludes; the compiled kernels are cached")
    p.box(10, 74, 104, 60, "reg", "kernel text", "~in the dialect")
    p.box(158, 20, 112, 52, "local", "prelude", "~OpenCL C 1.2")
    p.box(158, 136, 112, 52, "local", "prelude", "~CUDA C++")
    p.box(314, 20, 156, 52, "l2", "driver's compiler", "~GPU, or PoCL on a CPU")
    p.box(314, 136, 156, 52, "l2", "NVRTC", "~PTX or machine code")
    p.arrow((114, 92), (158, 56))
    p.arrow((114, 116), (158, 152))
    p.arrow((270, 46), (314, 46))
    p.arrow((270, 162), (314, 162))
    p.box(334, 88, 116, 32, "dram", "compile cache")
    p.arrow((392, 72), (392, 88))
    p.arrow((392, 136), (392, 120))
    p.notes(240, 212, "a prelude defines each word of the dialect for its language;", "the key of the cache has text, device, driver and options")
    return p


def image_chain():
    p = Picture("image-chain", 250, "A chain of three operators: one launch per operator with images between them in memory, or one launch with tiles in local memory")
    p.text(12, 20, "one by one: three launches, two images between them", "b")
    p.row(30, 44, (10, 62, "dram", "image"), (96, 62, "reg", "gauss 2"), (182, 48, "dram", "~image"), (254, 76, "reg", "resize 0.5"),
          (354, 48, "dram", "~image"))
    p.box(426, 30, 44, 44, "reg", "gray")
    p.arrow((402, 52), (426, 52))
    p.text(12, 112, "fused: one launch, a tile at a time", "b")
    p.grid(14, 126, 6, 6, 13, "dram", {(r, c) for r in range(1, 5) for c in range(1, 5)})
    p.text(53, 222, "tile with halo", "s m")
    p.add("<rect x='128' y='126' width='282' height='78' rx='6' class='box none d'/>")
    p.row(146, 38, (138, 66, "reg", "gauss 2"), (226, 84, "reg", "resize 0.5"), (332, 66, "reg", "gray"))
    p.text(269, 222, "local memory and registers of one work-group", "s m")
    p.arrow((92, 165), (138, 165))
    p.arrow((398, 165), (432, 165))
    p.grid(434, 152, 2, 2, 13, "dram", {(0, 0), (0, 1), (1, 0), (1, 1)})
    p.text(240, 242, "only the halos of tiles are read more than once", "s m")
    return p


def python_arrays():
    p = Picture("python-arrays", 232, "Arrays of other libraries are used where they are; results have the kind and the device of the input")
    p.box(10, 16, 150, 58, "dram", "host memory", "~NumPy, xarray, buffers,", "~PyTorch on the CPU")
    p.box(10, 108, 150, 58, "l2", "device memory", "~PyTorch, CuPy, JAX,", "~ridge.array")
    p.box(206, 58, 116, 66, "reg", "ridge", "~plan, cached", "~lock released")
    p.box(368, 16, 102, 58, "dram", "result", "~same kind", "~of array")
    p.box(368, 108, 102, 58, "l2", "result", "~same device", "~and stream")
    p.arrow((160, 45), (206, 78))
    p.arrow((160, 137), (206, 104))
    p.arrow((322, 78), (368, 45))
    p.arrow((322, 104), (368, 137))
    p.notes(240, 192, "NumPy arrays and DLPack tensors are read where they are;", "arrays in device memory do not pass through the host")
    return p


def lesson_map():
    p = Picture("lesson-map", 306, "Lessons by subject: transforms and plans 1, 2, 4, 5; stencils 6, 7, 15; performance 3, 8, 12; telescopes, radar and images 9, 13, 16, 17, 18, 10, 19, 11, 14")
    rows = (("transforms and plans", "dram", ("1", "one FFT"), ("2", "the plan"), ("4", "no copies"), ("5", "leakage")),
            ("stencils", "l2", ("6", "heat"), ("7", "on a GPU"), ("15", "inversion")),
            ("performance", "local", ("3", "memory"), ("8", "my variant"), ("12", "placing")),
            ("telescopes, radar, images", "reg", ("9", "telescope"), ("13", "pulse"), ("16", "pulsar"), ("17", "beam"), ("18", "sky map"), ("10", "radar"), ("19", "track"),
                                                  ("11", "motion"), ("14", "MRI")))
    y = 14
    for name, kind, *lessons in rows:
        p.text(12, y + 26, name, "s")
        for i, (number, subject) in enumerate(lessons):
            p.box(176 + 74 * (i % 4), y + 44 * (i // 4), 70, 38, kind, number, "~" + subject)
        y += 50 + 44 * ((len(lessons) - 1) // 4)
    return p


def radar_track():
    """A wavy track over a straight line, and the distances from some of its pulses to one pixel."""
    p = Picture("radar-track", 236, "Pulses along a track that leaves the straight line, and the distances from them to one pixel")
    at = lambda s: (40 + 400 * s, 62 + 16 * math.sin(9 * s) + 5 * math.sin(25 * s))
    p.line([(40, 62), (440, 62)], "ax d")
    p.line([at(i / 120) for i in range(121)], "c0")
    pixel = (258, 196)
    for i in range(4, 17):
        x, y = at(i / 20)
        p.line([(x, y), pixel], "g")
        p.dot(x, y, "", "f0")
    p.line([at(0.3), pixel], "c1")
    p.dot(*pixel, "", "f1")
    p.text(40, 22, "the track: one place per pulse", "s")
    p.text(440, 50, "the assumed line", "s e")
    p.text(136, 150, "distance of", "s e")
    p.text(136, 166, "pulse and pixel", "s e")
    p.notes(258, 222, "a pixel: the sum of the echoes of all pulses at their distances")
    return p


def ratios(name, title, what, rows, marks):
    """How many times as fast as the peer, by length; `rows` are (name, [(log2 of the length, ratio)])."""
    p = Picture(name, 262, title)
    most, ends = max(value for _, points in rows for _, value in points), [at for _, points in rows for at, _ in points]
    x, y = p.plot((46, 24, 458, 216), (min(ends), max(ends)), (0, math.ceil(2 * most) / 2), [(m, f"2^{m}") for m in marks],
                  [v / 2 for v in range(math.ceil(2 * most) + 1)], "points", what)
    p.line([(x(min(ends)), y(1)), (x(max(ends)), y(1))], "a d")
    for i, (_, points) in enumerate(rows):
        p.line([(x(at), y(value)) for at, value in points], f"c{i}")
    p.key(320, 40, *(row for row, _ in rows))
    return p


def table(page, first):
    """Cells of the rows of the table in a page of docs/measurements whose first line begins with `first`."""
    text = open(os.path.join(HERE, "..", "measurements", page), encoding="utf-8").read()
    lines = text[text.index("\n" + first) + 1:].split("\n\n")[0].split("\n")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def power_of(text):
    return int(text[2:]) if text.startswith("2^") else int(math.log2(int(text)))


def fft_h200():
    points = []
    for cells in table("h200.md", "| complex float | share | peer |")[2:]:
        points += zip(map(power_of, cells[0].split(", ")), map(float, cells[2].split()))
    return ratios("fft-h200", "Complex float transforms on an H200 compared with cuFFT, by length", "times as fast as cuFFT", [("complex float", points)],
                  range(2, 27, 4))


def fft_xeon():
    rows = [row for row in table("xeon-avx512.md", "| N | float | peer | double |")[2:] if not row[0].startswith("mean")]
    return ratios("fft-xeon", "Transforms on one Xeon core compared with FFTW, by length: float, double, and float limited to AVX2", "times as fast as FFTW",
                  [(name, [(power_of(row[0]), float(row[column])) for row in rows]) for name, column in
                   (("float, AVX-512", 2), ("double, AVX-512", 4), ("float, AVX2", 6))], range(3, 18, 2))


def fft_neoverse():
    rows = table("neoverse-v1.md", "| N | 8 | 16 | 32 |")
    ratio = lambda row: [(power_of(n), float(value)) for n, value in zip(rows[0][1:-1], row[1:-1]) if value]
    return ratios("fft-neoverse", "Transforms on one Neoverse-V1 core compared with FFTW, by length: float, double, and float without complex instructions",
                  "times as fast as FFTW", [("float", ratio(rows[3])), ("double", ratio(rows[5])), ("float, plain NEON", ratio(rows[6]))], range(3, 14, 2))


def papers_k2():
    """Variants D and A on the H200, and the paper's best variant on its device; the times are those of the table."""
    best, ours = table("papers.md", "| N | wins | K1 | K2 | K2^ |")[2:], table("papers.md", "| N | A | B | BL | C |")
    column = {name: i for i, name in enumerate(ours[0])}
    rows = [("D, H200", [(power_of(row[0]), float(row[column["D"]])) for row in ours[2:]]),
            ("A, H200", [(power_of(row[0]), float(row[column["A"]])) for row in ours[2:]]),
            ("best in the paper", [(power_of(row[0]), float(row[-1])) for row in best])]
    p = Picture("papers-k2", 262, "Gain K2 of variants D and A on an H200 and of the paper's best variant, by length")
    x, y = p.plot((46, 24, 458, 216), (8, 22), (-1, 3), [(m, f"2^{m}") for m in range(8, 23, 2)],
                  [(v, ("0.1", "1", "10", "100", "1000")[v + 1]) for v in range(-1, 4)], "points", "K2: times as fast as one core")
    for i, (_, points) in enumerate(rows):
        p.line([(x(at), y(math.log10(value))) for at, value in points], f"c{i}")
    p.key(320, 166, *(name for name, _ in rows))
    return p


def frameworks_panels():
    """The best share of each row of the table of arrays larger than the device's memory."""
    rows = table("frameworks.md", "| problem | passes |")[2:]
    p = Picture("frameworks-panels", 30 * len(rows) + 66, "Transforms of arrays larger than an H200's memory: best share of the bound by the transfers")
    left, right, bottom = 216, 456, 24 + 30 * len(rows)
    at = lambda share: left + (right - left) * share
    for share in (0, 0.5, 0.85, 1):
        p.line([(at(share), 16), (at(share), bottom)], "a d" if share == 0.85 else "g")
        p.text(at(share), bottom + 16, str(share), "s m")
    for i, row in enumerate(rows):
        best = max(float(cell.strip("* ").split()[0]) for cell in row[3:] if cell.strip("* "))
        p.text(left - 8, 24 + 30 * i + 15, row[0].split(" (")[0], "s e")
        p.add(f"<rect x='{left}' y='{24 + 30 * i}' width='{(right - left) * best:.1f}' height='20' rx='3' class='box l2'/>")
        p.text(at(best) - 6, 24 + 30 * i + 15, f"{best:.2f}", "s e")
    p.text(right, bottom + 34, "time of the transfers alone / measured time", "s e")
    return p


def install_parts():
    p = Picture("install-parts", 268, "An installed tree: what is linked, what is opened at run time, and the files in the cache folder")
    p.box(12, 16, 132, 36, "none", "your program")
    p.box(156, 16, 132, 36, "none", "bin/ridge")
    p.box(300, 16, 168, 36, "none", "import ridge")
    p.box(12, 88, 276, 40, "reg", "libridge", "~linked: {fmt}, Highway")
    p.box(300, 88, 168, 40, "reg", "module", "~contains libridge")
    p.arrow((78, 52), (78, 88))
    p.arrow((222, 52), (222, 88))
    p.arrow((384, 52), (384, 88))
    p.box(12, 184, 140, 56, "dram", "drivers", "~OpenCL, CUDA, NVRTC")
    p.box(164, 184, 148, 56, "local", "libraries of formats", "~png, tiff, jpeg, cfitsio")
    p.box(324, 184, 144, 56, "l2", "files", "~profile, wisdom, kernels")
    for x in (82, 238, 396):
        p.arrow((x, 128), (x, 184))
    p.text(160, 160, "opened at first use", "s m")
    p.text(390, 160, "read and written", "s e")
    p.text(240, 260, "a missing driver is a note, a missing library an error of the call that needs it", "s m")
    return p


PAGES = [check_flow, fft_order, fftw_calls, adjoint_pair, place_claim, place_window, place_simpleflow, place_session, place_comparison,
         psrfits_rows, uvfits_baseline, strides, c_structs, modules, tones,
         diffusion, fold, beam, device_dialect, image_chain, python_arrays, lesson_map, radar_track, fft_h200, fft_xeon, fft_neoverse,
         papers_k2, frameworks_panels, install_parts]
