"""Checks that a report page is complete: no errors, its drawings exist, every number equals the JSON beside it.

The page holds its data in <script type="application/json" id="report-data">. Every number it shows is in an element
with data-key, a path into that data ("bench.0.rows.3.seconds"), and data-value, the number itself.
"""
import json
import math
import re

LOOK = """(() => {
  // Of two drawings for wide and narrow windows the style sheet hides one with its frame.
  const hidden = svg => svg.closest('.figure') !== null && getComputedStyle(svg.closest('.figure')).display === 'none';
  const drawings = [...document.querySelectorAll('svg')].filter(svg => !hidden(svg));
  // Elements that reach beyond the window, or are cut off by a frame around them. Tables of all measurements may be scrolled.
  const cut = () => [...document.querySelectorAll('svg, .tile, .tile .number, table.overview td, h1, h2, img, .meta')].filter(e => {
    const box = e.getBoundingClientRect();
    if (box.width === 0 || (e.closest('svg') !== null && e.closest('svg') !== e)) return false;
    const frame = e.parentElement.getBoundingClientRect();
    return box.right > innerWidth + 1 || (e.closest('.tile, .figure, .figures') !== null && box.right > frame.right + 1);
  }).map(e => `${e.tagName.toLowerCase()} ${(e.getAttribute('aria-label') || e.textContent).trim().slice(0, 60)}`);
  const drawn = svg => {
    const box = svg.getBoundingClientRect();
    return box.width > 0 && box.height > 0 &&
        svg.querySelector('path, line, polyline, polygon, circle, rect') !== null;
  };
  // Corners of a text on the screen, also of a rotated one, reduced by one to three pixels.
  const corners = text => {
    const box = text.getBBox(), matrix = text.getScreenCTM(), hair = 1;
    return [[box.x + hair, box.y + 3 * hair], [box.x + box.width - hair, box.y + 3 * hair],
            [box.x + box.width - hair, box.y + box.height - 3 * hair], [box.x + hair, box.y + box.height - 3 * hair]]
        .map(([x, y]) => [matrix.a * x + matrix.c * y + matrix.e, matrix.b * x + matrix.d * y + matrix.f]);
  };
  // Two convex shapes are apart if a line along one of their sides separates them.
  const apart = (a, b) => [[a, b], [b, a]].some(([one, other]) => one.some((from, i) => {
    const to = one[(i + 1) % one.length], normal = [to[1] - from[1], from[0] - to[0]];
    const side = p => normal[0] * (p[0] - from[0]) + normal[1] * (p[1] - from[1]);
    const inner = Math.sign(one.map(side).reduce((sum, s) => sum + s, 0));
    return other.every(p => side(p) * inner <= 0);
  }));
  const overlaps = svg => {
    const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() !== '');
    const shapes = texts.map(corners), found = [];
    for (let i = 0; i < texts.length; ++i) {
      for (let j = 0; j < i; ++j) {
        if (!apart(shapes[i], shapes[j])) found.push([texts[j].textContent, texts[i].textContent]);
      }
    }
    return found;
  };
  const data = document.getElementById('report-data');
  const table = document.querySelector('table');
  return {
    cut: cut(),
    wider: document.documentElement.scrollWidth - innerWidth,
    overlaps: drawings.flatMap(overlaps),
    opens_with: table === null ? null : table.className,
    drawings: drawings.map(drawn),
    data: data === null ? null : data.textContent,
    numbers: [...document.querySelectorAll('[data-key]')].map(
        e => [e.dataset.key, e.dataset.value === undefined ? null : e.dataset.value, e.textContent]),
  };
})()"""

PREFIXES = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "Ki": 2**10, "Mi": 2**20,
            "Gi": 2**30, "Ti": 2**40, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}
UNITS = {"%": 0.01, "min": 60, "h": 3600}
NUMBER = re.compile(r"([-+−]?)(\d[\d,   ]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%|[^\d\s]*)")


def lookup(data, key):
    """The value at a path such as "devices.0.name"; KeyError if there is none."""
    for part in key.split("."):
        if isinstance(data, list) and part.isdigit() and int(part) < len(data):
            data = data[int(part)]
        elif isinstance(data, dict) and part in data:
            data = data[part]
        else:
            raise KeyError(key)
    return data


def one_shows(sign, digits, unit, value):
    digits = re.sub(r"[,\s]", "", digits)
    number = float(digits) * (-1 if sign and sign in "-−" else 1)
    mantissa, _, exponent = digits.lower().partition("e")
    step = 10.0 ** (-len(mantissa.partition(".")[2]) + int(exponent or 0))
    if unit in UNITS:
        scales = [UNITS[unit]]
    else:  # the key may include the unit's prefix: gbytes_per_s
        scales = {PREFIXES[prefix] for prefix in (unit[:2], unit[:1], "") if prefix in PREFIXES}
    return any(abs(number * scale - value) <= 0.5001 * step * scale + 1e-12 * abs(value) for scale in scales)


def shows(text, value):
    """True if a number in a text such as "L1: 4.25 TB/s" or "87 %" is the value, rounded to the digits shown."""
    return any(one_shows(*match.groups(), value) for match in NUMBER.finditer(text))


def same(left, right):
    """True for equal JSON values, member by member; 3 and 3.0 are equal."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def number_problem(data, key, value, text):
    try:
        wanted = lookup(data, key)
    except KeyError:
        return f"the page shows {key}, which the JSON does not have"
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float)):
        return f"{key} must be a number in the JSON, got {wanted!r}"
    try:
        given = float(value)
    except (TypeError, ValueError):
        return f"{key} has data-value {value!r}, which is not a number"
    if not math.isfinite(given) or given != wanted:
        return f"{key} is {value} on the page and {wanted!r} in the JSON"
    if text.strip() and not shows(text, given):  # bars and dots have no text
        return f"{key} is {value}, but the page shows {text.strip()!r}"
    return None


def problems(browser, page, json_text, drawings=1, width=1280):
    """All errors of the page in a window of `width` pixels, one line per error."""
    found, seen = browser.open(page, LOOK, width=width)
    if seen is None:
        return found or ["the page could not be looked at"]
    drawn = sum(seen["drawings"])
    if drawn < drawings:
        found.append(f"{drawn} drawings (SVG) are visible, at least {drawings} should be")
    if drawn < len(seen["drawings"]):
        found.append(f"{len(seen['drawings']) - drawn} drawings (SVG) are empty or have no size")
    found += [f"cut off at {width} pixels: {what}" for what in seen["cut"]]
    if seen["wider"] > 0:
        found.append(f"the page is {seen['wider']} pixels wider than a window of {width}")
    found += [f"the labels {first!r} and {second!r} overlap" for first, second in seen["overlaps"]]
    data = json.loads(json_text)
    if "overview" in data and seen["opens_with"] != "overview":
        found.append("the page does not open with the table of workloads")
    if seen["data"] is None:
        found.append("the page has no report-data")
    else:
        try:
            if not same(json.loads(seen["data"]), data):
                found.append("the data in the page is not the JSON's")
        except ValueError as error:
            found.append(f"the data in the page is no JSON: {error}")
    if not seen["numbers"]:
        found.append("the page shows no number that carries a data-key")
    found += [line for line in (number_problem(data, *number) for number in seen["numbers"]) if line]
    return found
