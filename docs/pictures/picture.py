"""An SVG picture, light or dark as the browser prefers: text, boxes, arrows and curves."""
import html
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))
STYLE = """svg{--ink:#1c2330;--soft:#5b6472;--paper:#fdfdfb;--line:#8791a0;--dram:#cfe0f6;--l2:#cdebdc;--local:#fbe3b8;--reg:#eee6f8;
--grid:#dfe4ea;--c0:#1f5fae;--c1:#c2410c;--c2:#157a52;font-family:system-ui,"DejaVu Sans",sans-serif}
@media(prefers-color-scheme:dark){svg{--ink:#e3e8ef;--soft:#a3adbb;--paper:#14181f;--line:#7d8898;--dram:#23436b;--l2:#1d5139;--local:#66491a;
--reg:#443560;--grid:#2b3340;--c0:#7db2f0;--c1:#f59a6b;--c2:#5fcf9f}}
text{fill:var(--ink);font-size:13px}.s{fill:var(--soft);font-size:12px}.m{text-anchor:middle}.e{text-anchor:end}.b{font-weight:600}
.bg{fill:var(--paper)}.box{stroke:var(--line)}.dram{fill:var(--dram)}.l2{fill:var(--l2)}.local{fill:var(--local)}.reg{fill:var(--reg)}
.none{fill:none}.a{stroke:var(--ink);stroke-width:1.4;fill:none}.d{stroke-dasharray:4 3}.g{stroke:var(--grid);fill:none}.ax{stroke:var(--line);fill:none}
.h{fill:var(--ink)}.c0{stroke:var(--c0);fill:none;stroke-width:1.8}.c1{stroke:var(--c1);fill:none;stroke-width:1.8}.c2{stroke:var(--c2);fill:none;stroke-width:1.8}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.t{fill-opacity:.45}.on{fill:var(--paper);font-weight:600}"""


def number(x):
    return f"{x:.1f}".rstrip("0").rstrip(".")


class Picture:
    """Collects SVG elements; `title` is the text alternative inside the file."""

    def __init__(self, name, height, title, width=480):
        self.name, self.size, self.title, self.parts = name, (width, height), title, []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, kind=""):
        self.add(f"<text x='{number(x)}' y='{number(y)}'" + (f" class='{kind}'" if kind else "") + f">{html.escape(text)}</text>")

    def box(self, x, y, w, h, kind, *lines):
        """A rectangle with centred lines; a line that begins with ~ is small."""
        self.add(f"<rect x='{number(x)}' y='{number(y)}' width='{number(w)}' height='{number(h)}' rx='4' class='box {kind}'/>")
        for i, line in enumerate(lines):
            self.text(x + w / 2, y + h / 2 + 4.5 + (i - (len(lines) - 1) / 2) * 16, line.lstrip("~"), "s m" if line[0] == "~" else "m")

    def line(self, points, kind="a"):
        self.add(f"<polyline points='{' '.join(number(x) + ',' + number(y) for x, y in points)}' class='{kind}'/>")

    def arrow(self, *points, kind="a", both=False):
        self.line(points, kind)
        for (x0, y0), (x, y) in [points[-2:]] + ([points[1::-1]] if both else []):
            angle = math.atan2(y - y0, x - x0)
            tips = [(x - 8 * math.cos(angle + turn), y - 8 * math.sin(angle + turn)) for turn in (0.4, -0.4)]
            self.add("<path d='M" + "L".join(f"{number(a)} {number(b)}" for a, b in [(x, y), *tips]) + "z' class='h'/>")

    def dot(self, x, y, label, kind="f0"):
        self.add(f"<circle cx='{number(x)}' cy='{number(y)}' r='8' class='{kind}'/>")
        self.text(x, y + 4.2, label, "on m")

    def row(self, y, h, *boxes):
        """Boxes (x, width, kind, lines...) of one height, with an arrow from each one to the next."""
        for before, (x, w, kind, *lines) in zip((None,) + boxes, boxes):
            self.box(x, y, w, h, kind, *lines)
            if before:
                self.arrow((before[0] + before[1], y + h / 2), (x, y + h / 2))

    def notes(self, x, y, *lines, kind="s m", step=16):
        for i, line in enumerate(lines):
            self.text(x, y + step * i, line, kind)

    def grid(self, x, y, columns, rows, cell, kind, lit=()):
        """A matrix of cells; the cells (row, column) of `lit` are filled."""
        for r, c in sorted(lit):
            self.add(f"<rect x='{x + c * cell}' y='{y + r * cell}' width='{cell}' height='{cell}' class='{kind}'/>")
        lines = [f"M{x} {y + r * cell}h{columns * cell}" for r in range(rows + 1)] + [f"M{x + c * cell} {y}v{rows * cell}" for c in range(columns + 1)]
        self.add(f"<path d='{''.join(lines)}' class='ax'/>")

    def plot(self, area, across, up, x_marks, y_marks, x_name="", y_name="", vertical=True):
        """Axes with numbers. area: left, top, right, bottom; across, up: ends of the axes. Returns the two maps to the picture."""
        left, top, right, bottom = area
        x = lambda a: left + (right - left) * (a - across[0]) / (across[1] - across[0])
        y = lambda b: bottom - (bottom - top) * (max(b, up[0]) - up[0]) / (up[1] - up[0])
        for mark in y_marks:
            value, name = mark if isinstance(mark, tuple) else (mark, number(mark))
            self.line([(left, y(value)), (right, y(value))], "g")
            self.text(left - 5, y(value) + 4, name, "s e")
        for mark in x_marks:
            value, name = mark if isinstance(mark, tuple) else (mark, number(mark))
            if vertical:
                self.line([(x(value), top), (x(value), bottom)], "g")
            self.text(x(value), bottom + 16, name, "s m")
        if y_name:
            self.text(left + 4, top - 6, y_name, "s")
        if x_name:
            self.text(right, bottom + 32, x_name, "s e")
        return x, y

    def key(self, x, y, *names):
        """Lines of the colours c0, c1, c2 with their names."""
        for i, name in enumerate(names):
            self.line([(x, y + 18 * i), (x + 24, y + 18 * i)], f"c{i}")
            self.text(x + 30, y + 4 + 18 * i, name, "s")

    def save(self):
        w, h = self.size
        text = (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {w} {h}' width='{w * 4 // 3}' height='{h * 4 // 3}' role='img'>\n"
                f"<title>{html.escape(self.title)}</title>\n<style>{STYLE}</style>\n<rect width='{w}' height='{h}' rx='6' class='bg'/>\n"
                + "\n".join(self.parts) + "\n</svg>\n")
        with open(os.path.join(HERE, self.name + ".svg"), "w", encoding="utf-8") as f:
            f.write(text)
        print(f"{self.name}.svg: {len(text)} bytes")
