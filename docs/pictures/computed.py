"""Pictures of data that the command `ridge` computes: responses, waves, flow, radar, an inversion, a spine."""
import base64
import cmath
import json
import math
import os
import random
import re
import struct
import subprocess
import zlib

from picture import Picture, number

command = "ridge"  # set by make.py


def ridge(*arguments):
    return subprocess.run([command, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def read_npy(path):
    """(type, shape, data) of a .npy file."""
    raw = open(path, "rb").read()
    length = struct.unpack("<H", raw[8:10])[0]
    head = raw[10:10 + length].decode()
    shape = tuple(int(n) for n in re.search(r"'shape': \(([^)]*)\)", head).group(1).replace(" ", "").strip(",").split(","))
    return re.search(r"'descr': '([^']*)'", head).group(1), shape, raw[10 + length:]


def filterbank_response(work):
    weights = os.path.join(work, "weights.f64")
    ridge("channelize", "design", "-", "--channels", "16", "--taps", "16", "--save", weights)
    raw = open(weights, "rb").read()
    prototype = struct.unpack(f"<{len(raw) // 8}d", raw)
    p = Picture("filterbank-response", 262, "Response of three neighbouring channels in dB against frequency in channel spacings")
    left, right = 46, 466
    x, y = p.plot((left, 20, right, 216), (-3, 3), (-140, 0), range(-3, 4), range(0, -141, -20), "frequency, channel spacings", "dB")
    total = sum(prototype)
    curve = []
    for i in range(-480, 481):
        f = i / 120
        value = abs(sum(h * cmath.exp(-2j * math.pi * f * n / 16) for n, h in enumerate(prototype))) / total
        curve.append((f, 20 * math.log10(value + 1e-12)))
    for centre, kind in ((-1, "c2"), (1, "c2"), (0, "c0")):
        p.line([(x(f + centre), y(d)) for f, d in curve if -3 <= f + centre <= 3 and round(f * 120) % 3 == 0], kind)
    p.line([(left, y(-6.02)), (right, y(-6.02))], "ax d")
    p.text(right - 2, y(-6.02) + 15, "-6 dB at the channel's edge", "s e")
    return p


def wave(work):
    out = os.path.join(work, "wave.npy")
    ridge("stencil", "wave", "--size", "96x96", "--steps", "45", "--threads", "1", "--device", "host", "--no-leap", "--out", out)
    kind, shape, data = read_npy(out)
    rows, columns = shape[-2:]
    cells = struct.unpack(f"<{rows * columns}f", data[-4 * rows * columns:] if len(shape) == 2 else data[:4 * rows * columns])
    top = max(map(abs, cells))
    p = Picture("wave", 250, "A circular wave on a grid of 96 x 96 cells, drawn as one curve per sixth row")
    for r in range(2, rows, 6):
        base = 44 + r * 1.95
        points = [(24 + (c + (rows - r) * 0.25) * 3.8, base - 42 * cells[r * columns + c] / top) for c in range(0, columns, 2)]
        path = "M" + "L".join(f"{a:.0f} {number(b)}" for a, b in points)
        p.add(f"<path d='{path}V{number(base + 40)}H{number(points[0][0])}z' class='bg'/><path d='{path}' class='c0'/>")
    return p


def flow_field(work):
    rows, columns = 96, 144
    random.seed(7)
    waves = [(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(0, 6.3)) for _ in range(24)]

    def shade(x, y):
        return max(0, min(255, int(128 + 24 * sum(math.sin(a * x + b * y + c) for a, b, c in waves) / 2.2)))

    angle, names = 0.06, [os.path.join(work, n) for n in ("a.ppm", "b.ppm", "flow.npy")]
    for name, turn in zip(names, (0, angle)):
        pixels = bytearray()
        for r in range(rows):
            for c in range(columns):
                dx, dy = c - columns / 2, r - rows / 2
                pixels += bytes([shade(dx * math.cos(turn) + dy * math.sin(turn), dy * math.cos(turn) - dx * math.sin(turn))]) * 3
        open(name, "wb").write(f"P6\n{columns} {rows}\n255\n".encode() + pixels)
    ridge("flow", *names, "--threads", "1", "--device", "host")
    _, shape, data = read_npy(names[2])
    field = struct.unpack(f"<{rows * columns * 2}f", data)
    p = Picture("flow-field", 350, "Flow of a picture that rotates clockwise about its centre: arrows along circles")
    for r in range(6, rows, 9):
        for c in range(6, columns, 9):
            u, v = field[2 * (r * columns + c)], field[2 * (r * columns + c) + 1]
            x, y, angle = 14 + c * 3.17, 20 + r * 3.17, math.atan2(v, u)
            tips = [f"{number(x + 6.34 * u - 6 * math.cos(angle + turn))} {number(y + 6.34 * v - 6 * math.sin(angle + turn))}" for turn in (0.5, -0.5)]
            tip = f"{number(x + 6.34 * u)} {number(y + 6.34 * v)}"
            if math.hypot(u, v) > 0.3:
                p.add(f"<path d='M{number(x)} {number(y)}L{tip}M{tips[0]}L{tip}L{tips[1]}' class='c0'/>")
            else:
                p.add(f"<circle cx='{number(x)}' cy='{number(y)}' r='2' class='f1'/>")
    p.text(240, 342, "each arrow: twice the motion between the frames", "s m")
    return p


def sar_point(work):
    out = os.path.join(work, "sar.npy")
    if not os.path.exists(out):
        ridge("sar", "--frames", "1", "--threads", "1", "--device", "host", "--out", out)
    kind, shape, data = read_npy(out)
    image = lambda r, c: complex(*struct.unpack_from("<2f", data, 8 * (r * 1024 + c)))
    row, column, half = 256, 532, 64
    p = Picture("sar-point", 262, "Cuts through a focused point target along range and along the track, in dB")
    left, right = 46, 466
    x, y = p.plot((left, 20, right, 216), (-12, 12), (-70, 0), range(-12, 13, 4), range(0, -71, -10), "distance, cells", "dB")
    for kind, fetch in (("c0", lambda k: image(row + k, column)), ("c1", lambda k: image(row, column + k))):
        line = [fetch(k) for k in range(-half, half)]
        spectrum = [sum(v * cmath.exp(-2j * math.pi * i * f / 128) for i, v in enumerate(line)) for f in range(128)]
        # Zeros are inserted where the spectrum is smallest, because the band is not centred on 0.
        cut = min(range(128), key=lambda f: sum(abs(spectrum[(f + d) % 128]) for d in range(-6, 7)))
        band = [((f - cut) % 128 + cut - 128, spectrum[f]) for f in range(128)]
        fine = [(t / 8, abs(sum(v * cmath.exp(2j * math.pi * (t / 8 + half) * f / 128) for f, v in band))) for t in range(-104, 105)]
        peak = max(fine, key=lambda e: e[1])
        p.line([(x(t - peak[0]), y(20 * math.log10(v / peak[1] + 1e-9))) for t, v in fine if -12 <= t - peak[0] <= 12], kind)
    p.line([(left, y(-42.68)), (right, y(-42.68))], "ax d")
    p.text(left + 6, y(-42.68) - 5, "-42.7 dB: theory", "s")
    p.key(350, 34, "range", "along track")
    return p


SPINE_SOURCE = """#include <utility>
#include <vector>
void heat_by_swap(std::vector<float>& a, int h, int w, int steps) {
  std::vector<float> b(a);
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < h - 1; ++i)
      for (int j = 1; j < w - 1; ++j)
        b[i * w + j] = 0.2f * (a[i * w + j] + a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
    std::swap(a, b);
  }
}
"""


def place_spine(work):
    """The spine of `ridge place --report`, with this script's colours and names of the symbols."""
    source, page = os.path.join(work, "heat.cpp"), os.path.join(work, "heat.html")
    open(source, "w", encoding="utf-8").write(SPINE_SOURCE)
    ridge("place", source, "--function", "heat_by_swap", "--verdicts", "--report", page)
    drawn = re.search(r"<svg[^>]*>(.*?)</svg>", open(page, encoding="utf-8").read(), re.S).group(1)
    drawn = re.sub(r" (?:data-\w+|tabindex)='[^']*'", "", drawn)
    for old, new in (("trace", "a"), ("placed", "box l2 t"), ("bar", "box none"), ("call", "h"), ("block", "h"), ("sequential", "f1"),
                     ("parallel", "f0"), ("reads", "f0"), ("writes", "f1"), ("array", "ax")):
        drawn = drawn.replace(f"<text class='{old}'", "<text").replace(f"class='{old}'", f"class='{new}'")
    p = Picture("place-spine", 350, "Spine of heat_by_swap: a sequential time loop around two loops on the device")
    p.add(drawn)
    for x, y, text in ((330, 60, "green: on the device"), (330, 78, "blue triangle: parallel"), (330, 96, "red: sequential"), (330, 228, "the update"), (334, 150, "swap")):
        p.text(x, y, text, "s")
    return p


def npy_header(shape, kind="<f8"):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


def write_npy(path, shape, values):
    open(path, "wb").write(npy_header(shape) + struct.pack(f"<{len(values)}d", *values))


def shaded(p, box, shape, values, low, high):
    """A grid of values as an image: blue below the middle, white in it, red above."""
    rows, columns = shape
    colours = bytearray()
    for r in range(rows):
        colours.append(0)
        for value in values[r * columns:(r + 1) * columns]:
            s = round(24 * max(-1, min(1, 2 * (value - low) / (high - low) - 1))) / 24
            colours += bytes(int(255 - abs(s) * (255 - c)) for c in ((31, 95, 174) if s < 0 else (194, 65, 12)))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", columns, rows, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(bytes(colours), 9)) + chunk(b"IEND", b"")
    x, y, w, h = box
    p.add(f"<image x='{x}' y='{y}' width='{w}' height='{h}' preserveAspectRatio='none' style='image-rendering:pixelated' "
          f"href='data:image/png;base64,{base64.b64encode(png).decode()}'/><rect x='{x}' y='{y}' width='{w}' height='{h}' class='box none'/>")


def inversion(work):
    """The inversion of lesson 15 by the command, with the same steps."""
    rows, columns, steps = 36, 48, 240
    near = lambda r, c, y, x: math.hypot(r - y, c - x) < 5
    start = [1600.0 + 8 * r for r in range(rows) for _ in range(columns)]
    true = [v + 150 * near(i // columns, i % columns, 16, 15) - 150 * near(i // columns, i % columns, 20, 33) for i, v in enumerate(start)]
    name = lambda n: os.path.join(work, n)
    open(name("s.csv"), "w").write("".join(f"2.5,{c}\n" for c in (6, 18, 30, 42)))
    open(name("r.csv"), "w").write("".join(f"{d},{c}.5\n" for d in (2, 33) for c in range(2, 45, 2)))
    common = ["--sources", name("s.csv"), "--shots", "--receivers", name("r.csv"), "--steps", str(steps), "--spacing", "10", "--frequency", "9",
              "--dt", "0.0023", "--type", "f64", "--device", "host"]
    write_npy(name("true.npy"), (rows, columns), true)
    ridge("stencil", "acoustic", "--velocity", name("true.npy"), *common, "--record", name("data.npy"))
    doubles = lambda path: [v for v, in struct.iter_unpack("<d", read_npy(path)[2])]
    model, before, misfits, first = start, None, [], None
    for _ in range(20):
        write_npy(name("model.npy"), (rows, columns), model)
        said = ridge("stencil", "acoustic", "--velocity", name("model.npy"), *common, "--observed", name("data.npy"), "--gradient", name("g.npy"))
        misfits.append(float(re.search(r"misfit (\S+)", said).group(1)))
        slope = doubles(name("g.npy"))
        first = first or slope
        length = 20 / max(map(abs, slope))
        if before:
            moved, changed = [a - b for a, b in zip(model, before[0])], [a - b for a, b in zip(slope, before[1])]
            length = sum(a * a for a in moved) / abs(sum(a * b for a, b in zip(moved, changed)))
        before = model, slope
        model = [max(1400, min(2100, v - length * g)) for v, g in zip(model, slope)]
    p = Picture("inversion", 470, "Inversion of lesson 15: true model, found model, traces of a shot, first gradient, and the misfit of 20 iterations")
    top = max(map(abs, first))
    data = doubles(name("data.npy"))[steps * 44:2 * steps * 44]
    loud = max(map(abs, data)) / 3
    every = [v for step in range(0, steps, 3) for v in data[44 * step:44 * step + 44]]
    for x, y, text, shape, values, low, high in (
            (20, 28, "true model", (rows, columns), true, 1550, 2050), (250, 28, "found after 20 iterations", (rows, columns), model, 1550, 2050),
            (20, 188, "data: steps by receivers, shot 2", (steps // 3, 44), every, -loud, loud), (250, 188, "first gradient", (rows, columns), first, -top, top)):
        p.text(x, y - 8, text, "s")
        shaded(p, (x, y, 208, 128), shape, values, low, high)
    p.text(20, 340, "misfit, in units of the first, logarithmic", "s")
    for decade in range(4):
        p.line([(52, 352 + decade * 30), (458, 352 + decade * 30)], "g")
        p.text(46, 356 + decade * 30, f"1e-{decade}" if decade else "1", "s e")
    p.line([(52 + 406 * i / 19, 352 - 30 * math.log10(m / misfits[0])) for i, m in enumerate(misfits)], "c0")
    p.text(255, 464, "iteration 0 to 19", "s m")
    return p


def search(work):
    """The candidates of the commands of docs/search.md."""
    data, found = os.path.join(work, "test.fil"), os.path.join(work, "candidates.json")
    ridge("search", "signal", data, "--pulses", "6")
    ridge("search", data, "--dm", "0..500", "--out", found)
    p = Picture("search", 262, "Six candidates by time and dispersion measure; the area of a circle grows with the S/N")
    x, y = p.plot((46, 24, 462, 216), (0, 20), (0, 500), range(0, 21, 5), range(0, 501, 100), "seconds", "dispersion measure, pc/cm^3")
    for pulse in json.load(open(found, encoding="utf-8")):
        radius = 2 * math.sqrt(pulse["snr"])
        p.add(f"<circle cx='{x(pulse['time']):.1f}' cy='{y(pulse['dm']):.1f}' r='{radius:.1f}' class='c0'/>")
        p.text(x(pulse["time"]), y(pulse["dm"]) - radius - 4, f"{pulse['snr']:.0f}", "s m")
    return p


def dedispersion(work):
    """Power of a pulse of one sample, dispersed by the time reverse of `ridge dedisperse`, before and after the command."""
    count, pulse = 1 << 16, 1 << 15
    shape, kind, options = f"({count},)", "<c8", ("--dm", "40", "--centre", "1400", "--rate", "6.25", "--threads", "1", "--device", "host")
    name = lambda n: os.path.join(work, n)
    samples = [0j] * count
    samples[pulse] = 1
    series = []
    for step in range(2):
        open(name("in.npy"), "wb").write(npy_header(shape, kind) + b"".join(struct.pack("<2f", v.real, v.imag) for v in samples))
        ridge("dedisperse", name("in.npy"), name("out.npy"), *options)
        samples = [complex(a, b) for a, b in struct.iter_unpack("<2f", read_npy(name("out.npy"))[2])]
        if step == 0:
            samples = [v.conjugate() for v in reversed(samples)]
        series.append([sum(abs(v) ** 2 for v in samples[i:i + 32]) for i in range(0, count, 32)])
    p = Picture("dedispersion", 300, "Power of a dispersed pulse, spread over a millisecond, and after coherent dedispersion, one sharp peak")
    for top, values, text, kind in ((22, series[0], "power, dispersed (x 100)", "c1"), (164, series[1], "power, dedispersed", "c0")):
        most = max(series[1]) / (100 if kind == "c1" else 1)
        x, y = p.plot((20, top, 462, top + 96), (-1, 1), (0, 1.1), (-1, -0.5, 0, 0.5, 1), (0, ), "milliseconds" if kind == "c0" else "", text)
        centre = max(range(len(series[1])), key=lambda i: series[1][i])
        line = [((i - centre) * 32 / 6250, v / most) for i, v in enumerate(values)]
        p.line([(x(t), y(v)) for t, v in line if -1 <= t <= 1], kind)
    return p


def time_line(work):
    """The first spans of `ridge fft IN OUT --memory 8M --trace FILE`."""
    name = lambda n: os.path.join(work, n)
    with open(name("lines.npy"), "wb") as f:
        f.write(npy_header("(8192, 1024)", "<c8"))
        f.truncate(f.tell() + 8192 * 1024 * 8)
    ridge("fft", name("lines.npy"), name("spectra.npy"), "--threads", "2", "--memory", "8M", "--trace", name("trace.json"))
    spans = [e for e in json.load(open(name("trace.json"), encoding="utf-8"))["traceEvents"] if e["ph"] == "X" and e["name"] != "command"]
    reads = sorted(e["ts"] for e in spans if e["name"] == "read" and e["dur"] > 100)
    begin, end = reads[2], reads[6]
    threads = sorted({e["tid"] for e in spans})
    p = Picture("time-line", 60 + 40 * len(threads) + 40, "Time line of a transform of a file: blocks are read, transformed by two threads, and written, one after another")
    x = lambda t: 84 + 386 * (t - begin) / (end - begin)
    colours = {"read": "dram", "share": "reg", "write": "l2"}
    for row, thread in enumerate(threads):
        p.text(78, 40 + 40 * row, f"thread {row}", "s e")
        p.line([(84, 50 + 40 * row), (474, 50 + 40 * row)], "g")
        for e in spans:
            if e["tid"] == thread and e["name"] in colours and e["ts"] + e["dur"] > begin and e["ts"] < end:
                a, b = max(x(e["ts"]), 84), min(x(e["ts"] + e["dur"]), 470)
                p.add(f"<rect x='{a:.1f}' y='{24 + 40 * row}' width='{max(b - a, 1):.1f}' height='26' class='box {colours[e['name']]}'/>")
    base = 34 + 40 * len(threads)
    p.text(84, base, "0", "s")
    p.text(470, base, f"{(end - begin) / 1000:.1f} ms", "s e")
    for i, (text, kind) in enumerate(colours.items()):
        p.box(110 + 110 * i, base + 16, 22, 14, kind)
        p.text(140 + 110 * i, base + 28, text, "s")
    return p


def nufft_map(work, points, strengths, side):
    """Real parts of a type 1 transform by the command, divided by the number of points."""
    name = lambda n: os.path.join(work, n)
    write_npy(name("points.npy"), (len(points), 2), [c for point in points for c in point])
    open(name("strengths.npy"), "wb").write(npy_header(f"({len(points)},)", "<c16") + b"".join(struct.pack("<2d", s.real, s.imag) for s in strengths))
    ridge("nufft", name("points.npy"), name("strengths.npy"), name("modes.npy"), "--modes", f"{side}x{side}", "--threads", "1", "--device", "host")
    return [real / len(points) for real, _ in struct.iter_unpack("<2d", read_npy(name("modes.npy"))[2])]


def visibility_map(work):
    """Measured points, dirty map and map after CLEAN of lesson 18."""
    n, hours = 128, 40
    places = [cmath.rect(1.5 ** k, 2 * math.pi * arm / 3) for arm in range(3) for k in range(1, 8)]
    turns = [cmath.rect(1, math.pi * (hour / (hours - 1) - 0.5) / 2) for hour in range(hours)]
    pairs = [turn * (b - a) for turn in turns for i, a in enumerate(places) for b in places[i + 1:]]
    scale = 2.7 / max(map(abs, pairs))
    points = [(scale * pair.imag, scale * pair.real) for pair in pairs]
    stars = ((40, 70, 1.0), (75, 50, 0.5), (90, 98, 0.1))
    measured = [sum(cmath.rect(flux, -(v * (row - n // 2) + u * (column - n // 2))) for row, column, flux in stars) for v, u in points]
    dirty, beam = nufft_map(work, points, measured, n), nufft_map(work, points, [1 + 0j] * len(points), 2 * n)
    clean, left = [0.0] * (n * n), list(dirty)
    for _ in range(100):
        at = max(range(n * n), key=left.__getitem__)
        flux, row, column = 0.3 * left[at], at // n, at % n
        for r in range(n):
            start = (n + r - row) * 2 * n + n - column
            left[r * n:r * n + n] = [value - flux * b for value, b in zip(left[r * n:r * n + n], beam[start:start + n])]
        for r in range(max(0, row - 5), min(n, row + 6)):
            for c in range(max(0, column - 5), min(n, column + 6)):
                clean[r * n + c] += flux * math.exp(-((r - row) ** 2 + (c - column) ** 2) / 2.5)
    covered = [0.5] * (96 * 96)
    for v, u in points:
        for sign in (1, -1):
            covered[int(48 + sign * v * 16) * 96 + int(48 + sign * u * 16)] = 0
    p = Picture("visibility-map", 190, "Points measured by an array of antennas, the dirty map with three stars in a pattern of side lobes, and the map after CLEAN")
    for i, (text, side, values) in enumerate((("measured points (u, v)", 96, covered), ("dirty map", n, dirty),
                                              ("after CLEAN", n, [a + b for a, b in zip(clean, left)]))):
        p.text(10 + 158 * i, 22, text, "s")
        low, high = (0, 1) if i == 0 else (-0.3, 0.3)
        shaded(p, (10 + 158 * i, 30, 146, 146), (side, side), values, low, high)
    return p


COMPUTED = [filterbank_response, wave, flow_field, sar_point, inversion, place_spine, search, dedispersion, time_line, visibility_map]
