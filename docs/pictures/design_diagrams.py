"""Pictures of the design pages and of how a plan, a leap, a shot and a capture work: no computation."""
import math

from picture import Picture


def plan_choice():
    p = Picture("plan-choice", 250, "How the planner chooses: candidates, limits, prediction, wisdom or trials, winner")
    p.box(12, 16, 104, 56, "dram", "candidates", "~from the listers")
    p.box(158, 16, 112, 56, "reg", "limits", "~of the device")
    p.box(312, 16, 156, 56, "reg", "prediction", "~machine model, cost")
    p.arrow((116, 44), (158, 44))
    p.arrow((270, 44), (312, 44))
    p.box(158, 108, 112, 40, "none", "refusals", "~with the reason")
    p.arrow((214, 72), (214, 108))
    p.box(312, 108, 156, 40, "local", "wisdom", "~measured before?")
    p.arrow((390, 72), (390, 108))
    p.box(312, 186, 156, 48, "local", "trials", "~time the best eight")
    p.arrow((414, 148), (414, 186))
    p.text(422, 172, "no entry", "s")
    p.box(12, 186, 104, 48, "l2", "winner", "~built once")
    p.arrow((312, 218), (116, 218))
    p.text(214, 212, "fastest, saved as wisdom", "s m")
    p.line([(312, 128), (290, 128), (290, 198)])
    p.arrow((290, 198), (116, 198))
    p.text(280, 172, "entry, or quick: best predicted", "s e")
    p.box(12, 108, 104, 40, "none", "explain()")
    p.arrow((158, 128), (116, 128))
    p.arrow((64, 186), (64, 148))
    return p


def fft_host_memory():
    p = Picture("fft-host-memory", 262, "Host FFT by size: the memory between which each method moves the points")
    levels = (("registers", "reg"), ("L1", "local"), ("L2", "l2"), ("DRAM", "dram"))
    for i, (name, kind) in enumerate(levels):
        p.box(10, 34 + 56 * i, 74, 40, kind, name)
    columns = (("batch", "2 to 16", ((0, 3),), ()), ("line", "to 8192", ((0, 1),), ((1, 3),)),
               ("two steps", "to 2^16", ((0, 1), (1, 2)), ((2, 3),)), ("descent", "above", ((0, 1), (1, 2), (2, 3)), ()),
               ("squares", "above, x86", ((1, 3),), ((0, 1),)))
    for c, (name, points, often, once) in enumerate(columns):
        x = 126 + 76 * c
        p.text(x, 14, name, "m b")
        p.text(x, 28, points, "m s")
        for pairs, kind in ((often, "a"), (once, "a d")):
            for a, b in pairs:
                p.arrow((x, 54 + 56 * a + 4), (x, 54 + 56 * b - 4), kind=kind, both=True)
                for level in (a, b):
                    p.add(f"<circle cx='{x}' cy='{54 + 56 * level}' r='4' class='h'/>")
    for i in range(4):
        p.line([(92, 54 + 56 * i), (470, 54 + 56 * i)], "g")
    p.text(281, 254, "solid: every pass of the method; dashed: once", "m s")
    return p


def fft_papers_variants():
    p = Picture("fft-papers-variants", 258, "Stages of variants A to F for 2^12 points and work-groups that hold 2^7: gaps separate launches, colours are memories")
    rows = (("A", [(1, "dram")] * 12), ("B", [(7, "dram")]), ("BL", [(7, "local")]), ("C", [(7, "dram")] + [(1, "dram")] * 5),
            ("CL", [(7, "local")] + [(1, "dram")] * 5), ("D", [(7, "local"), (5, "local")]),
            ("E", [(-4, "reg"), (3, "local"), (5, "local")]), ("F", [(4, "reg"), (7, "local"), (1, "local")]),
            ("F/even", [(4, "reg"), (4, "local"), (4, "local")]))
    p.text(54, 16, "stage 1", "s")
    p.text(466, 16, "stage 12", "s e")
    for r, (name, parts) in enumerate(rows):
        y, x = 24 + 23 * r, 54.0
        p.text(48, y + 14, name, "e")
        for stages, kind in parts:  # negative: the same launch continues
            p.box(x, y, abs(stages) * 34.3 - (4 if stages > 0 else 0), 18, kind)
            x += abs(stages) * 34.3
    for row in (1, 2):
        p.text(302, 38 + 23 * row, "needs N <= 2 M, here 2^7", "s")
    for x, kind, name in ((60, "dram", "global memory"), (210, "local", "local memory"), (350, "reg", "registers")):
        p.box(x, 238, 22, 14, kind)
        p.text(x + 30, 250, name, "s")
    return p


def filterbank_fused():
    p = Picture("filterbank-fused", 226, "Fused filter bank on a device: bytes, FIR in registers, transform through local memory, channels")
    p.box(10, 60, 78, 84, "dram", "DRAM", "~samples as", "~bytes")
    p.box(112, 14, 262, 176, "none")
    p.text(243, 32, "one kernel", "m s")
    p.box(124, 60, 104, 84, "reg", "FIR", "~converted rows", "~in registers")
    p.box(258, 44, 104, 44, "reg", "butterflies", "~in place")
    p.box(258, 116, 104, 44, "local", "exchange", "~local memory")
    p.arrow((88, 102), (124, 102))
    p.arrow((228, 80), (258, 68))
    p.arrow((290, 88), (290, 116))
    p.arrow((330, 116), (330, 88))
    p.box(394, 60, 78, 84, "dram", "DRAM", "~channels or", "~power")
    p.arrow((362, 72), (394, 86))
    p.arrow((176, 160), (176, 144))
    p.text(176, 176, "loop over time", "m s")
    p.text(243, 212, "DRAM is read once and written once: 10 bytes per int8 sample", "m s")
    return p


def flow_levels():
    p = Picture("flow-levels", 232, "Coarse to fine: search on the smallest level, filter, double the flow, search on the next level")
    for i, (x, w, h) in enumerate(((34, 44, 28), (136, 80, 50), (262, 116, 74))):
        y = 118 - h / 2
        p.box(x + 10, y - 10, w, h, "none")
        p.box(x, y, w, h, "dram")
        cx, cy = x + w / 2, y + h / 2
        for dx, dy in ((-0.3, -0.24), (0.3, -0.24), (-0.3, 0.24), (0.3, 0.24)):
            at = (cx + dx * w, cy + dy * h)
            p.arrow((at[0] - 3 - 3 * i, at[1]), (at[0] + 3 + 3 * i, at[1] - 1 - i))
        p.text(cx, 190, f"level {2 - i}", "m b")
        p.text(cx, 206, ("a quarter", "half size", "full size")[i], "m s")
    for x0, x1 in ((90, 132), (228, 258)):
        p.arrow((x0, 118), (x1, 118))
        p.text((x0 + x1) / 2, 108, "x 2", "m s")
    p.text(436, 84, "per level", "m b")
    for i, step in enumerate(("choose", "search", "fill", "filter")):
        p.text(436, 102 + 16 * i, step, "m s")
    p.text(240, 30, "the flow of a level, doubled, is the start of the search on the next one", "m s")
    return p


def graph_schedule():
    p = Picture("graph-schedule", 214, "Four stages of a graph: each works on the block after the one of the stage behind it")
    names = ("read", "upload", "transform", "write")
    kinds = ("dram", "none", "reg", "l2")
    length = (40, 34, 56, 44)
    done = [[0.0] * 6 for _ in names]
    for s, (name, kind) in enumerate(zip(names, kinds)):
        y = 22 + 40 * s
        p.text(70, y + 20, name, "e")
        at = 0.0
        for b in range(6):
            start = max(at, done[s - 1][b] if s else 0)
            if s < 3 and b >= 2:  # two blocks per edge: waits until the reader has released a slot
                start = max(start, done[s + 1][b - 2] if done[s + 1][b - 2] else start)
            at = done[s][b] = start + length[s]
            if 84 + at <= 476:
                p.box(84 + start, y, length[s] - 3, 28, kind, str(b))
    p.line([(84, 184), (474, 184)], "ax")
    p.arrow((84, 184), (474, 184))
    p.text(474, 200, "time", "s e")
    p.text(84, 200, "once the ring is full, the rate is that of the slowest stage", "s")
    return p


def image_running_sums():
    p = Picture("image-running-sums", 246, "Running sums: a lane moves down, adds the newest row, subtracts the oldest, and reads its neighbours' sums")
    p.text(112, 18, "image", "m s")
    p.grid(16, 26, 12, 12, 16, "local", {(r, c) for r in range(3, 8) for c in range(12)})
    p.grid(16, 26, 12, 12, 16, "l2", {(8, c) for c in range(12)})
    p.grid(16, 26, 12, 12, 16, "reg", {(2, c) for c in range(12)})
    for lane in range(1, 3):
        p.line([(16 + 64 * lane, 26), (16 + 64 * lane, 218)], "a")
    p.text(216, 70, "oldest row", "s")
    p.text(216, 84, "is subtracted", "s")
    p.text(216, 166, "newest row", "s")
    p.text(216, 180, "is added", "s")
    p.text(216, 118, "rows of the", "s")
    p.text(216, 132, "window", "s")
    for i in range(3):
        p.box(318 + 50 * i, 82, 44, 56, "reg", f"lane {i}", "~sums")
        p.arrow((340 + 50 * i, 138), (340 + 50 * i, 172))
    p.arrow((346, 74), (346, 60), (384, 60), (384, 82))
    p.arrow((434, 82), (434, 60), (396, 60), (396, 82))
    p.text(390, 50, "sums of neighbours", "m s")
    p.box(318, 172, 144, 34, "dram", "means of a row")
    p.text(112, 236, "columns of lanes 0, 1, 2", "m s")
    return p


def leap():
    p = Picture("leap", 212, "A leap: transform, multiply every mode by a power of its symbol, transform back")
    for x, name, note, kind in ((12, "grid", "at step 0", "dram"), (378, "grid", "at step k", "dram")):
        p.box(x, 30, 90, 60, kind, name, "~" + note)
    p.box(146, 30, 188, 60, "reg", "modes", "~times symbol^k")
    p.arrow((102, 60), (146, 60))
    p.arrow((334, 60), (378, 60))
    p.text(124, 22, "transform", "m s")
    p.text(356, 22, "inverse", "m s")
    for i in range(5):
        x = 74 + 66 * i
        p.box(x, 138, 44, 30, "none", ("1", "2", "3", "...", "k")[i])
        p.arrow((x + 44, 153), (x + 66, 153)) if i < 4 else None
    p.arrow((57, 90), (57, 153), (74, 153), kind="a d")
    p.arrow((382, 153), (423, 153), (423, 90), kind="a d")
    p.text(240, 192, "k steps, each one pass over the grid: the same result", "m s")
    p.text(240, 112, "two transforms, whatever k is", "m s")
    return p


def shot():
    p = Picture("shot", 262, "A shot: source and receivers in a model that absorbing layers surround on all sides")
    p.box(20, 20, 300, 216, "local")
    p.box(48, 48, 244, 160, "dram")
    p.line([(48, 132), (120, 126), (200, 140), (292, 130)], "a")
    for r in (34, 60):
        points = [(150 + r * math.cos(t / 20), 72 + r * math.sin(t / 20)) for t in range(-6 if r > 34 else -20, 70 if r > 34 else 83)]
        p.line([(x, max(y, 48)) for x, y in points if 48 <= x <= 292 and y >= 48], "c1")
    p.line([(150 + 88 * math.cos(t / 20), 72 + 88 * math.sin(t / 20)) for t in range(14, 50)], "c1")
    p.line([(150 + 62 * math.cos(t / 20), 196 - 62 * math.sin(t / 20)) for t in range(18, 46)], "c0 d")
    p.add("<circle cx='150' cy='72' r='5' class='f1'/>")
    for i in range(12):
        p.add(f"<path d='M{60 + 20 * i} 60l4 -8h-8z' class='f2'/>")
    p.text(334, 38, "absorbing layer (CPML)", "s")
    p.text(334, 62, "receivers", "s")
    p.text(334, 86, "source", "s")
    p.text(334, 118, "wave", "s")
    p.notes(334, 142, "reflector; dashed:", "the reflected wave", kind="s", step=15)
    for y, kind in ((34, None), (58, "f2"), (82, "f1")):
        if kind:
            p.add(f"<circle cx='326' cy='{y}' r='4' class='{kind}'/>")
    p.text(170, 254, "width", "m s")
    p.text(334, 226, "depth downwards", "s")
    return p


def stencil_shot_step():
    p = Picture("stencil-shot-step", 214, "Launches of two steps of a shot: wave, layers, points; each begins while the previous one ends")
    p.text(12, 20, "launches of step n", "s")
    p.text(250, 20, "launches of step n + 1", "s")
    for i, left in enumerate((12, 250)):
        p.box(left, 30, 84, 38, "dram", "wave")
        p.box(left + 76, 54, 76, 38, "local", "layers")
        p.box(left + 144, 78, 76, 38, "l2", "points")
        if i == 0:
            p.arrow((left + 220, 97), (left + 244, 97), (left + 244, 72))
    p.text(12, 138, "wave: all cells, old levels to the new level", "s")
    p.text(12, 156, "layers: cells of the bands, memory variables and the new level", "s")
    p.text(12, 174, "points: receivers read the level that the next step keeps,", "s")
    p.text(12, 192, "sources are added to the new level", "s")
    return p


def capture_blocks():
    p = Picture("capture-blocks", 230, "Packets are stored in slots of blocks by their counter; a complete block is written, missing slots are zeros")
    p.text(12, 18, "packets as they arrive", "s")
    for i, n in enumerate(("4", "6", "5", "9", "8")):
        p.box(12 + 24 * i, 28, 21, 24, "reg", n)
    p.arrow((136, 40), (176, 40))
    p.text(332, 18, "blocks of four slots, by counter", "m s")
    lit = {0: "l2", 1: "l2", 2: "l2", 3: "l2", 4: "reg", 5: "reg", 6: "reg", 7: "none", 8: "reg", 9: "reg", 10: "none", 11: "none"}
    for n, kind in lit.items():
        block, slot = divmod(n, 4)
        p.box(184 + 98 * block + 22 * slot, 28, 20, 24, kind, str(n) if kind != "none" else " ")
    for block, name in enumerate(("written", "open", "open")):
        p.text(227 + 98 * block, 70, name, "m s")
    p.arrow((227, 78), (227, 108))
    for n in range(4):
        p.box(184 + 22 * n, 110, 20, 24, "dram", str(n))
    p.text(282, 126, "output: file, pipe or ring", "s")
    p.text(12, 126, "slot 7 has not arrived: it", "s")
    p.text(12, 142, "may still, until a packet is", "s")
    p.text(12, 158, "--window counters ahead", "s")
    p.arrow((348, 52), (348, 90), (150, 90), (150, 112), kind="a d")
    p.text(240, 190, "then it is lost: zeros in the output, a line in --flags,", "m s")
    p.text(240, 206, "and one more in the count of --report", "m s")
    return p


def disk_passes():
    p = Picture("disk-passes", 214, "A transform of two axes in three passes over files: rows to tiles, columns of tiles, tiles to rows")
    cell, top = 15, 34
    files = ((12, "input", {(1, c) for c in range(6)}), (136, "work file", {(1, c) for c in range(6)} | {(r, 3) for r in range(6)}),
             (260, "work file", {(r, 3) for r in range(6)} | {(4, c) for c in range(6)}), (384, "output", {(4, c) for c in range(6)}))
    for x, name, lit in files:
        p.text(x + 45, 22, name, "m s")
        p.grid(x, top, 6, 6, cell, "dram", lit)
    for x, number_, first, second in ((119, 1, "transform", "rows"), (243, 2, "transform", "columns"), (367, 3, "join tiles", "to rows")):
        p.arrow((x - 15, 79), (x + 15, 79))
        p.text(x, 142, f"pass {number_}", "m b")
        p.text(x, 159, first, "m s")
        p.text(x, 175, second, "m s")
    p.text(240, 202, "in memory at any time: five panels, here a row or a column of tiles", "m s")
    return p


def fft_boxes():
    p = Picture("fft-boxes", 216, "Given box of samples, lines that are not zero, wanted box of values")
    for x, name, kind, lit in ((20, "samples", "dram", {(r, c) for r in range(6) for c in range(6)}),
                               (182, "after the rows", "local", {(r, c) for r in range(6) for c in range(12)}),
                               (344, "values", "l2", {(r, c) for r in range(12) for c in range(3)} | {(r, 11) for r in range(12)})):
        p.text(x + 60, 20, name, "m s")
        p.grid(x, 28, 12, 12, 10, kind, lit)
    p.arrow((142, 88), (180, 88))
    p.arrow((304, 88), (342, 88))
    p.text(80, 168, "given: the rest is", "m s")
    p.text(80, 184, "zero, not stored", "m s")
    p.text(242, 168, "only rows with samples", "m s")
    p.text(242, 184, "are transformed", "m s")
    p.text(404, 168, "wanted: only these", "m s")
    p.text(404, 184, "columns", "m s")
    p.text(240, 208, "a wanted box may continue at the beginning of an axis", "m s")
    return p


DIAGRAMS = [stencil_shot_step, plan_choice, fft_host_memory, fft_papers_variants, filterbank_fused, flow_levels, graph_schedule, image_running_sums, leap,
            shot, capture_blocks, disk_passes, fft_boxes]
